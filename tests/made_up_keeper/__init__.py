"""A protocol that nobody runs: standing orders that keepers carry out, in a folder like those of the product."""
