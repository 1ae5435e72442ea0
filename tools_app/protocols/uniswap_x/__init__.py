"""UniswapX: orders that are signed and sent by nobody of ours; fillers carry them out, or nobody does."""
