"""A draft of a golem's policy tried on what it asked for, and the least policy that would have allowed it."""
