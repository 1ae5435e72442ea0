"""A value that may be absent by its type and is present where it is used."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def require(value: Value | None) -> Value:
    """Return `value`. Raises LookupError when it is None: a fault of this product, not of whoever asked."""
    if value is None:
        raise LookupError("a row that must be linked to another one is not")
    return value
