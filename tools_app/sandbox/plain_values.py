"""Values as they cross between an owner's tool and the product: whole numbers as decimal text, no fractions."""

from __future__ import annotations


def write_plain(value: object) -> object:
    """A parameter as an owner's tool is told it: a flag, or text."""
    return value if isinstance(value, bool | str) else str(value)


def write_without_fractions(value: object) -> object:
    """`value` with fractions as text, as every answer of a tool has them."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {name: write_without_fractions(member) for name, member in value.items()}
    return [write_without_fractions(member) for member in value] if isinstance(value, list) else value
