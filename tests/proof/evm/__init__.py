"""Generated programs for the EVM, run here and by the reference interpreter in an environment of its own."""
