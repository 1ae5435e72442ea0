"""A protocol that nobody runs: with debt, a queue and a right of its own, in a folder like those of the product."""
