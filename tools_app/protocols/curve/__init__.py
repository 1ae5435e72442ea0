"""Curve: a pool of three dollars, its LP token, and the gauge in which that earns CRV."""
