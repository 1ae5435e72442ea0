"""Words for what chains and calls hold: names of addresses, calls as sentences, figures with units; plain text."""
