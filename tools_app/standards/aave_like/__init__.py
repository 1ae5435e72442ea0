"""Lending markets of Aave V3's code: one pool, an account whose whole collateral covers all its debts."""
