"""What may happen, and making it happen: hooks, permits, limits, signing, outcomes."""
