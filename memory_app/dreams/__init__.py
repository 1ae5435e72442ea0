"""Dreams: replay of what surprised, counterfactuals on the local engine, and what both change in heuristics."""
