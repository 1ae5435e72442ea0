"""A Safe in its cage on two machines, and the hostile batches both are fed; for tests and proofs."""
