"""x402, version 2: a request is answered with 402 and what is asked for, and comes again with a signed payment."""
