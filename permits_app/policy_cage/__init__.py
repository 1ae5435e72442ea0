"""The owner's cage on chain: its binding, its mirror in the database, and what it would answer."""
