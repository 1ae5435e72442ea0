"""Uniswap V3: concentrated liquidity, SwapRouter02 and the position manager."""
