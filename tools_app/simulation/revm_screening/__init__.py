"""Screening many candidates fast: revm in a worker process where it is installed. Never for a permit."""
