"""Yearn V3: vaults that lend to strategies; whoever leaves says how much loss is taken."""
