"""Maker: collateral vaults that draw DAI. On the local chain contracts of our own stand in for it."""
