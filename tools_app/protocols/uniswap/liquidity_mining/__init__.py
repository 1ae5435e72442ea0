"""Rewards for liquidity: the canonical staker of V3 positions, and lists of who is owed what under a Merkle root."""
