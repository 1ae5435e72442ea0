"""A protocol that nobody runs: cards of which an account may have many of one kind, in a folder of its own."""
