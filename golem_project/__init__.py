"""The composition root: settings, wiring, the interfaces to the outside and the servers that come along."""

import gc
import os

# Read by eth-hash when it is first imported: the C keccak is about three times faster than its default.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")

# What is loaded stays: to search it for cycles again and again while it grows takes a tenth of every start.
OBJECTS_BETWEEN_SEARCHES = 20_000
gc.set_threshold(OBJECTS_BETWEEN_SEARCHES)
