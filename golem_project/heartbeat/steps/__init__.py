"""The steps of a tick, one file each, in the order in which `cycle.py` calls them."""
