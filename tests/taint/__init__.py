"""Canary secrets and where they must never appear."""
