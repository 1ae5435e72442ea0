"""The safety hook chain: seven hooks in a fixed order, each of which may refuse."""
