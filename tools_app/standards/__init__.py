"""What protocols share: ERC-20, 721, 4626 and others as calls and reads, concentrated liquidity, pooled lenders."""
