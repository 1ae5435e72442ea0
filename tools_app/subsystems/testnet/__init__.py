"""Private test chains of a golem: the `testnet_*` tools."""
