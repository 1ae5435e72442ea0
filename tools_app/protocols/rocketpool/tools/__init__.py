"""The `rocketpool_*` tools."""
