"""The static analyser of `make proof ONLY=analyser`: its own environment, what it finds, and our answers to that."""
