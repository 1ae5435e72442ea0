"""Amounts, moves and addresses in the words that people read."""
