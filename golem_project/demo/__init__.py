"""The demo: an owner with one golem, and its first swap over REST, told step by step."""
