"""Uniswap's official SDKs as a second opinion on routes, and as a maker of calldata that is held to our own plan."""
