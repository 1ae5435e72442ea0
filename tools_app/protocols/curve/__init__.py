"""Curve: a pool of three dollars, its LP token, the gauge in which that earns CRV, and Convex over the gauge."""
