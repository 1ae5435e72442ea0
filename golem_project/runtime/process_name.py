"""What this process is called where others see it: at the database, in its log and among the measures."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 63
"""Bytes of a name that PostgreSQL shows."""
_name = "golem"


def call_it(name: str) -> None:
    """From here on, connections to the database that are opened carry this name."""
    global _name
    _name = f"golem {name}"[:_LONGEST]


def tell() -> str:
    """The name."""
    return _name
