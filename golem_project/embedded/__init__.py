"""The servers that come along, so that nobody has to install one: PostgreSQL, Valkey and a local chain on loopback.

Nothing here imports Django or any app of ours; the rest of the product only sees URLs in the environment.
"""
