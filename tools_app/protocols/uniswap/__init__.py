"""Uniswap V2 and V3: addresses, pools, exact maths, routing, plans and tools. V4 is not served."""
