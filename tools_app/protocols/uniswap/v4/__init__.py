"""Uniswap V4: pools that one manager keeps, their hooks, and the calls of the Universal Router."""
