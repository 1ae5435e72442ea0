"""Strategies without a model."""
