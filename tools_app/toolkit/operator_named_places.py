"""Places that the operator of a server named for a protocol, where no list of its makers tells which are sound.

The line of a place is made by `manage.py name_place`, which asks the chain what the place is; what it says is compared
with the chain whenever the place is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.toolkit.context import ChainReader

_NAMED: Final[dict[tuple[str, int], tuple[str, ...]]] = {}


@dataclass(frozen=True, slots=True)
class Nameable:
    """What the chain told of an address: the text by which a protocol knows it, and sentences for who decides."""

    text: str
    about: tuple[str, ...]


Naming = Callable[[ChainReader, str], Nameable]
"""Asks the chain about an address. Raises the protocol's error where it is nothing that could be named."""


def name_places(places: Mapping[tuple[str, int], tuple[str, ...]]) -> None:
    """From now on these are named, by protocol and chain, and no others."""
    _NAMED.clear()
    _NAMED.update(places)


def list_named(protocol: str, chain_id: int) -> tuple[str, ...]:
    """The texts of what is named for a protocol on a chain."""
    return _NAMED.get((protocol, chain_id), ())
