"""OfChain: an answer that is true of one chain at one block. Its class declares what is its own.

    @dataclass(frozen=True, slots=True)
    class Held(OfChain):
        shares: str

What is the same for every such answer is put beside it: `block_number`, of the block that was read, and, of a protocol
that contracts of ours stand in for on some chain, whether they do on this one (`is_simulated`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, Final

from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.protocol import SHELF

_FOLDERS: Final = "tools_app.protocols."


class OfChain:
    """The base of such answers, which are frozen dataclasses."""

    __slots__ = ()


def with_place(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; beside an answer of a chain it tells the block, and whether contracts of ours stand there."""
    folder = handler.__module__.removeprefix(_FOLDERS).partition(".")[0]

    @wraps(handler)
    def call(ctx: ReadContext, **params: Any) -> Any:
        answer = handler(ctx, **params)
        if not isinstance(answer, OfChain):
            return answer
        reader, protocol = ctx.chain(), SHELF.get(folder)
        told: dict[str, Any] = {each.name: getattr(answer, each.name) for each in fields(answer)}  # type: ignore[arg-type]
        told["block_number"] = reader.block.number
        if protocol is not None and protocol.simulated_on:
            told["is_simulated"] = protocol.is_simulated(reader.chain_id)
        return told

    return call
