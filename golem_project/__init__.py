"""The composition root: settings, wiring, the interfaces to the outside and the servers that come along."""

import os

# Read by eth-hash when it is first imported: the C keccak is about three times faster than its default.
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")
