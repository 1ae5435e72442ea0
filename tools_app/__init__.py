"""What a golem can do: core words, the toolkit, chain reads, simulation, and the DeFi tools themselves."""
