"""Signers sign and nothing else; none of them can send."""
