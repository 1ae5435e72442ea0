"""Aave V3: lending against collateral."""
