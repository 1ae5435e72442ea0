"""Situations of golems: brought about on the local chain, looked at by the product's own ticks, kept with a label."""
