"""ERC-4626 vaults that are known by name: positions, effects and plans of the standard, for the vaults of its data."""
