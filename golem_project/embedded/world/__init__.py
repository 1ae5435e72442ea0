"""The local world: real protocol contracts, tokens and feeds of ours, funded pools with a past, on chain 31337."""
