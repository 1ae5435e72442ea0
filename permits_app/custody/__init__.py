"""Who signs: accounts, keys, Safes, and how a plan reaches the chain."""
