"""The interface a module is written against: `golem-tool.wit`, as names and types to compare a component with.

What a component may import is this one instance, with functions of exactly these types: a function of another type
would have the host turn lists of a module's choosing into Python objects before any limit of ours was asked.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

HOST: Final = "golem:tool/host@1.0.0"
RUN: Final = "run"
WIT_PATH: Final = Path(__file__).with_name("golem-tool.wit")


class HostFunction(StrEnum):
    """What the host offers; a definition names those its module may use."""

    CHAIN_READ = "chain-read"
    TOKEN = "token"  # noqa: S105  (of a chain)
    PRICE = "price"
    RECALL = "recall"
    PROGRESS = "progress"
    LOG = "log"


ASKING: Final = frozenset({HostFunction.CHAIN_READ, HostFunction.TOKEN, HostFunction.PRICE, HostFunction.RECALL})
"""`func(request: string) -> result<string, string>`; the others are `func(text: string)`."""

# In fuel: what the host does for a module costs it about as much as doing so much itself.
FUEL_OF_CALL: Final = {
    HostFunction.CHAIN_READ: 100_000,
    HostFunction.TOKEN: 50_000,
    HostFunction.PRICE: 50_000,
    HostFunction.RECALL: 200_000,
    HostFunction.PROGRESS: 10_000,
    HostFunction.LOG: 10_000,
}
FUEL_OF_BYTE: Final = 10
