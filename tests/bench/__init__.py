"""What the project promises, measured: one file per topic, every figure beside its reference in one run."""
