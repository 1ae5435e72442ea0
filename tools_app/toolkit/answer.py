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
from typing import Any, Final, get_type_hints

from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.protocol import SHELF, ProtocolDef

BLOCK_NUMBER: Final = "block_number"
IS_SIMULATED: Final = "is_simulated"
_FOLDERS: Final = "tools_app.protocols."


class OfChain:
    """The base of such answers, which are frozen dataclasses."""

    __slots__ = ()


def list_put_beside(handler: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what is put beside the answer of a function, by what it says it returns; none of any other."""
    told = get_type_hints(handler).get("return")
    if not isinstance(told, type) or not issubclass(told, OfChain):
        return ()
    protocol = _protocol_of(handler)
    is_told = protocol is not None and bool(protocol.simulated_on)
    return (BLOCK_NUMBER, IS_SIMULATED) if is_told else (BLOCK_NUMBER,)


def with_place(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; beside an answer of a chain it tells the block, and whether contracts of ours stand there."""

    @wraps(handler)
    def call(ctx: ReadContext, **params: Any) -> Any:
        answer = handler(ctx, **params)
        if not isinstance(answer, OfChain):
            return answer
        reader, protocol = ctx.chain(), _protocol_of(handler)
        told: dict[str, Any] = {each.name: getattr(answer, each.name) for each in fields(answer)}  # type: ignore[arg-type]
        told[BLOCK_NUMBER] = reader.block.number
        if protocol is not None and protocol.simulated_on:
            told[IS_SIMULATED] = protocol.is_simulated(reader.chain_id)
        return told

    return call


def _protocol_of(handler: Callable[..., Any]) -> ProtocolDef | None:
    return SHELF.get(handler.__module__.removeprefix(_FOLDERS).partition(".")[0])
