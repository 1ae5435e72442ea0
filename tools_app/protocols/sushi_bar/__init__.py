"""SushiBar: SUSHI goes in for xSUSHI, a share of all that lies in the bar, which fees of SushiSwap fill."""
