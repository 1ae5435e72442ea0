"""The `uniswap_*` tools."""
