"""A protocol that nobody runs: principals let managers draw so much a day of their money, in a folder of its own."""
