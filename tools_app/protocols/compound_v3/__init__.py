"""Compound V3: markets that each lend one asset against others."""
