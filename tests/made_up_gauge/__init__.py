"""A protocol that nobody runs: a token goes in, and a reward grows that has no price and whose contract calls back."""
