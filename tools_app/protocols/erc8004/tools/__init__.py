"""The `identity_*` tools."""
