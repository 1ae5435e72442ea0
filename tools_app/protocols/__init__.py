"""One package per protocol; its name is the prefix of its tools. Protocols do not know each other."""
