"""Uniswap V2: constant-product pairs and Router02."""
