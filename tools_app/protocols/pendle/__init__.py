"""Pendle V2: claims on a yield's principal, the yield of its own, a market of both."""
