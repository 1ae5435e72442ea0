"""The `morpho_*` tools."""
