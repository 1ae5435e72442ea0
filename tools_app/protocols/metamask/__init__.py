"""MetaMask's delegation framework: what owners of smart accounts let a golem draw, by delegations that they sign."""
