"""Jars: contracts that fill with what others pay in, and that anybody may empty for a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import TokenMeta


class JarNotFound(
    GolemError,
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="No known jar has that address",
    cleared_by="one of the jars that its data lists",
):
    """No jar of a known protocol has this address on this chain. `data` has the chain's jars."""


@dataclass(frozen=True, slots=True)
class JarLook:
    """A jar at one block. `nonce` is the number of its next release, so it rises with each one.

    `threshold` base units of `resource` are what emptying it takes; `held` is what was found in it.
    """

    jar: str
    releaser: str
    nonce: int
    resource: TokenMeta
    threshold: int
    held: tuple[tuple[TokenMeta, int], ...]


class Jars(Protocol):
    """The jars of one protocol."""

    def list_jars(self, chain_id: int) -> tuple[str, ...]:
        """Addresses of its jars on a chain."""

    def look(self, reader: ChainReader, jar: str) -> JarLook:
        """One of them as it is now. Raises what the chain raises."""
