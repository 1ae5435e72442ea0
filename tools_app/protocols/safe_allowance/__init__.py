"""Safe's allowance module."""
