"""The `memory_*` tools: those that read are in `recall`, those that write under a permit in `learning`."""
