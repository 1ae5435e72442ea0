"""The vendor's Trading API: its quotes, its orders, and calldata that it makes, read as a stranger's."""
