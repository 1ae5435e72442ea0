"""Lido: staked Ether as shares of a pool, wrapped or not, and the queue that gives Ether back."""
