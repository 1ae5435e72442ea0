"""ERC-8004: who an agent is, what clients say of it and what validators found, on three registries of a chain."""
