"""Moonwell: markets of the family of Compound V2, with one account over all of them."""
