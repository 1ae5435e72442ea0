"""Told: what a tool's answer holds. OfChain: an answer that is true of one chain at one block.

    class Share(Told):
        vault: str
        raw: str

    class Held(OfChain):
        shares: tuple[Share, ...]

Both declare fields alone: each class is a frozen dataclass without saying so. What is the same for every answer of a
chain is put beside it: `block_number`, of the block that was read, and, of a protocol that contracts of ours stand in
for on some chain, whether they do on this one (`is_simulated`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, Final, dataclass_transform, get_type_hints

from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.protocol import SHELF, ProtocolDef

BLOCK_NUMBER: Final = "block_number"
IS_SIMULATED: Final = "is_simulated"
_FOLDERS: Final = "tools_app.protocols."


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Told:
    """The base of answers and of what they hold: a class of it is a frozen dataclass of the fields it declares."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class OfChain(Told):
    """The base of answers of one chain, beside which `with_place` puts what is the same for all of them."""


def list_put_beside(handler: Callable[..., object]) -> tuple[str, ...]:
    """The names of what is put beside the answer of a function, by what it says it returns; none of any other."""
    told = get_type_hints(handler).get("return")
    if not isinstance(told, type) or not issubclass(told, OfChain):
        return ()
    protocol = _protocol_of(handler)
    is_told = protocol is not None and bool(protocol.simulated_on)
    return (BLOCK_NUMBER, IS_SIMULATED) if is_told else (BLOCK_NUMBER,)


def with_place(handler: Callable[..., object]) -> Callable[..., Any]:  # Any: a value of the ABI's type
    """The same function; beside an answer of a chain it tells the block, and whether contracts of ours stand there."""

    @wraps(handler)
    def call(ctx: ReadContext, **params: Any) -> Any:  # Any: a value of the ABI's type
        opened: dict[int, ChainReader] = {}

        def open_chain(chain_id: int) -> ChainReader:
            if chain_id not in opened:
                opened[chain_id] = ctx.open_chain(chain_id)
            return opened[chain_id]

        answer = handler(replace(ctx, open_chain=open_chain), **params)
        if not isinstance(answer, OfChain):
            return answer
        # The one that was read: an id may name the chain that it is of.
        reader = next(iter(opened.values())) if len(opened) == 1 else ctx.chain()
        protocol = _protocol_of(handler)
        told: dict[str, object] = {each.name: getattr(answer, each.name) for each in fields(answer)}
        told[BLOCK_NUMBER] = reader.block.number
        if protocol is not None and protocol.simulated_on:
            told[IS_SIMULATED] = protocol.is_simulated(reader.chain_id)
        return told

    return call


def _protocol_of(handler: Callable[..., object]) -> ProtocolDef | None:
    return SHELF.get(handler.__module__.removeprefix(_FOLDERS).partition(".")[0])
