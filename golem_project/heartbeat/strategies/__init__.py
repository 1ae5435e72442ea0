"""What a golem does by rules alone, besides its position of liquidity: one file a strategy."""
