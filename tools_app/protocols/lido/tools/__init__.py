"""The `lido_*` tools."""
