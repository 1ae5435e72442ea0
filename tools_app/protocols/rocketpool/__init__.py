"""Rocket Pool: rETH, whose worth grows; a deposit pool to get it from, and to burn it against while it holds ether."""
