"""Calldata that a service made, held to the call this server would make itself: argument by argument, no byte besides.

Our own plan says what may happen. The service's call takes the place of ours only if it goes to the same contract, from
the same account, with the same coin, calls the same functions in the same order, and each argument is the very same,
or differs to the good of the account: less that may be taken, more that must come back, an earlier end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from tools_app.protocols.uniswap.trading_api.answer_types import AnsweredTransaction, read_whole
from tools_app.protocols.uniswap.trading_api.errors import ForeignCallRefused
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call


class ArgumentRule(StrEnum):
    """How an argument of theirs may differ from ours."""

    SAME = "the same"
    AT_MOST = "no more"
    AT_LEAST = "no less"
    UNTIL = "no later, and not over"


_FLOWS: Final = (ArgumentRule.AT_MOST, ArgumentRule.AT_MOST, ArgumentRule.AT_LEAST, ArgumentRule.AT_LEAST)
_ARGUMENTS: Final[Mapping[str, tuple[tuple[str, ArgumentRule], ...]]] = {
    v3.MINT: (
        ("token0", ArgumentRule.SAME),
        ("token1", ArgumentRule.SAME),
        ("fee", ArgumentRule.SAME),
        ("tick_lower", ArgumentRule.SAME),
        ("tick_upper", ArgumentRule.SAME),
        *zip(("amount0", "amount1", "least0", "least1"), _FLOWS, strict=True),
        ("recipient", ArgumentRule.SAME),
        ("deadline", ArgumentRule.UNTIL),
    ),
    v3.INCREASE: (
        ("position_id", ArgumentRule.SAME),
        *zip(("amount0", "amount1", "least0", "least1"), _FLOWS, strict=True),
        ("deadline", ArgumentRule.UNTIL),
    ),
    v3.DECREASE: (
        ("position_id", ArgumentRule.SAME),
        ("liquidity", ArgumentRule.SAME),
        ("least0", ArgumentRule.AT_LEAST),
        ("least1", ArgumentRule.AT_LEAST),
        ("deadline", ArgumentRule.UNTIL),
    ),
    v3.COLLECT: (
        ("position_id", ArgumentRule.SAME),
        ("recipient", ArgumentRule.SAME),
        ("most0", ArgumentRule.SAME),
        ("most1", ArgumentRule.SAME),
    ),
}


def pin(own: Call, made: AnsweredTransaction, *, account: str, chain_id: int, now: int) -> Call:
    """The call with their bytes, under our label. `now` is the chain's time. Raises ForeignCallRefused."""
    for field, theirs, ours in (
        ("chain", made.chain_id, chain_id),
        ("contract", made.to, own.to),
        ("account", made.sender, account),
        ("coin", read_whole(made.value), own.value),
    ):
        if theirs != ours:
            raise ForeignCallRefused(f"it names another {field}: {theirs}, not {ours}", field=field)
    data = bytes.fromhex(made.data[2:])
    mine, theirs_ = _unfold(own.data), _unfold(data)
    if len(mine) != len(theirs_):
        raise ForeignCallRefused(f"it has {len(theirs_)} steps where {len(mine)} were asked for", field="steps")
    for step, wanted in zip(theirs_, mine, strict=True):
        _compare(step, wanted, now)
    return Call(to=own.to, data=data, value=own.value, label=own.label)


def read_least(data: bytes) -> tuple[int, int]:
    """The least of both tokens that a withdrawal asks for; nothing where none is one."""
    found = [read_exactly(step, v3.DECREASE)[0] for step in _unfold(data) if calls(step, v3.DECREASE)]
    return sum(each[2] for each in found), sum(each[3] for each in found)


def _unfold(data: bytes) -> Sequence[bytes]:
    """The steps of a call; one that is no bundle is its only step."""
    try:
        return tuple(read_exactly(data, v3.MULTICALL)[0]) if calls(data, v3.MULTICALL) else (data,)
    except UnknownCall as error:
        raise ForeignCallRefused(str(error), field="steps") from None


def _compare(step: bytes, wanted: bytes, now: int) -> None:
    signature = next((each for each in _ARGUMENTS if calls(wanted, each)), None)
    if signature is None or not calls(step, signature):
        raise ForeignCallRefused(
            f"it calls 0x{step[:4].hex()}, and 0x{wanted[:4].hex()} was asked for", field="function"
        )
    try:
        (theirs,), (ours,) = read_exactly(step, signature), read_exactly(wanted, signature)
    except UnknownCall as error:
        raise ForeignCallRefused(str(error), field="arguments") from None
    for (name, rule), given, own in zip(_ARGUMENTS[signature], theirs, ours, strict=True):
        if not _holds(rule, given, own, now):
            raise ForeignCallRefused(
                f"its {name} is {given}, and must be {rule.value} than {own}"
                if rule is not ArgumentRule.SAME
                else f"its {name} is {given}, and {own} was asked for",
                field=name,
            )


def _holds(rule: ArgumentRule, given: Any, own: Any, now: int) -> bool:  # Any: a stranger's JSON
    if rule is ArgumentRule.SAME:
        return bool(given == own)
    if rule is ArgumentRule.AT_MOST:
        return 0 <= given <= own
    return given >= own if rule is ArgumentRule.AT_LEAST else now < given <= own
