"""The long proofs: full fuzz, mutation, kill storms, with fixed seeds. `make test` holds a short form of each."""
