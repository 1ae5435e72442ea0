"""Reads of pools, prices and positions: the `data_*` tools."""
