"""The owner's cage on chain: the rules a policy becomes, their mirror in the database, and what it would answer."""
