"""What is known of chains and markets, each figure with its source and time."""
