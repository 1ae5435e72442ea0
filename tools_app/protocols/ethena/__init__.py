"""Ethena: USDe is staked for sUSDe, whose worth grows with rewards; what leaves cools down first."""
