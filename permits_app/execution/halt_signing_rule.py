"""What a halted golem may still sign: allowances set to zero, protocols' rights taken back, rights that it received
given up, and its positions left, everything to its own account.

Judged from the bytes of the permit, what its simulation measured and what protocols say leaves them, not from what made
it. A debt may be repaid: what a leaving call takes is allowed to its contract before it. Where the owner lets a halt
sell, so may a swap for the account alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.custody.signing_route import carries_its_batch
from permits_app.execution.halt_debt_sales import does_sell
from permits_app.execution.renounce_right_call import gives_up_a_right
from permits_app.models import ActionPermit
from permits_app.permits.stored_calls import PlannedCall, read_planned_calls
from permits_app.safety.classify_action import is_deeper
from tools_app.chain.abi import AbiDecodeError, decode_input
from tools_app.core.stored_json import IntText, read_stored
from tools_app.portfolio.rights_without_logs import takes_back_an_asked_right
from tools_app.portfolio.standing_rights import takes_back_a_right
from tools_app.toolkit.exit_conditions import There
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF, LeavingCall

_APPROVE: Final = "function approve(address,uint256)"
_APPROVE_LENGTH: Final = 68


def is_halts_own(permit: ActionPermit, golem: Golem) -> bool:
    """Whether the halt itself sends this: made under the present halt, every call one of those kinds, and no debt that
    its simulation saw grow.
    """
    if permit.halt_epoch is None or permit.halt_epoch != golem.halt_epoch or not permit.calls:
        return False
    seen = _read_seen(permit)
    if seen.has_deeper_debt:
        return False
    calls = read_planned_calls(permit.plan_calls)
    places: dict[str, There] = {}
    # One by one: of two equal calls the second may find nothing there any more.
    left = [_is_leaving(call, permit, seen, places) for call in calls]
    sold = [not is_left and _is_sale(call, permit) for call, is_left in zip(calls, left, strict=True)]
    if any(sold) and not does_sell(golem):
        return False
    to = [call.to for call, *is_out in zip(calls, left, sold, strict=True) if any(is_out)]
    return carries_its_batch(permit) and all(
        call.value == 0
        and (
            left[index]
            or sold[index]
            or _is_approval_for(call, calls[index + 1 :], to)
            or takes_back_a_right(chain_id=permit.chain_id, contract=call.to, data=call.payload)
            or takes_back_an_asked_right(chain_id=permit.chain_id, contract=call.to, data=call.payload)
            or gives_up_a_right(permit, call)
        )
        for index, call in enumerate(calls)
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the permit's simulation measured before the calls: base units by protocol and token, held and owed."""

    held: Mapping[str, dict[str, int]]
    owed: Mapping[str, dict[str, int]]
    has_deeper_debt: bool


@dataclass(frozen=True, slots=True)
class _SeenLeg:
    token: str
    raw: IntText


@dataclass(frozen=True, slots=True)
class _SeenSide:
    legs: tuple[_SeenLeg, ...]


@dataclass(frozen=True, slots=True)
class _SeenPosition:
    """A position as the permit's simulation keeps it: what was there before the calls and after them."""

    ref: str
    before: _SeenSide | None
    after: _SeenSide | None


def _read_seen(permit: ActionPermit) -> _Seen:
    held: dict[str, dict[str, int]] = {}
    owed: dict[str, dict[str, int]] = {}
    deeper = False
    for told in (permit.simulation or {}).get("positions", ()):
        seen = read_stored(_SeenPosition, told)
        protocol = PositionRef.parse(seen.ref).protocol
        before, after = _sum_legs(seen.before), _sum_legs(seen.after)
        for token, raw in before.items():
            side = held if raw > 0 else owed
            sums = side.setdefault(protocol, {})
            sums[token] = sums.get(token, 0) + abs(raw)
        deeper = deeper or any(is_deeper(_owed_of(before, token), _owed_of(after, token)) for token in after)
    return _Seen(held, owed, deeper)


def _sum_legs(position: _SeenSide | None) -> dict[str, int]:
    sums: dict[str, int] = {}
    for leg in position.legs if position is not None else ():
        sums[leg.token] = sums.get(leg.token, 0) + leg.raw
    return sums


def _owed_of(legs: Mapping[str, int], token: str) -> int:
    return max(0, -legs.get(token, 0))


def _is_approval_for(call: PlannedCall, later: Sequence[PlannedCall], left: Sequence[str]) -> bool:
    """An allowance taken back, or one for a contract that a later call of the same permit leaves."""
    data = call.payload
    read = _read(_APPROVE, data) if len(data) == _APPROVE_LENGTH else None
    if read is None:
        return False
    spender, amount = read
    return amount == 0 or (spender in left and any(each.to == spender for each in later))


def _is_leaving(call: PlannedCall, permit: ActionPermit, seen: _Seen, places: dict[str, There]) -> bool:
    """A call that a protocol declares to take out, or to pay debt, for the account alone. `places` is what is there at
    each protocol, and shrinks by what the call takes.
    """
    protocol = SHELF.of_contract(permit.chain_id, call.to)
    if protocol is None:
        return False
    there = places.setdefault(
        protocol.name,
        There(
            permit.account,
            partial(protocol.address, permit.chain_id),
            dict(seen.held.get(protocol.name, {})),
            dict(seen.owed.get(protocol.name, {})),
        ),
    )
    here = [each for each in protocol.leaving if protocol.address(permit.chain_id, each.key) == call.to]
    return _leaves(call.payload, here, there)


def _is_sale(call: PlannedCall, permit: ActionPermit) -> bool:
    """A swap of tokens for the account alone, as the protocol declares it."""
    protocol = SHELF.of_contract(permit.chain_id, call.to)
    if protocol is None or not protocol.selling:
        return False
    here = [each for each in protocol.selling if protocol.address(permit.chain_id, each.key) == call.to]
    return _leaves(call.payload, here, There(permit.account, partial(protocol.address, permit.chain_id)))


def _leaves(data: bytes, known: Sequence[LeavingCall], there: There) -> bool:
    for each in known:
        args = _read(each.signature, data)
        if args is None:
            continue
        if each.steps is not None:
            steps = [bytes(step) for step in args[each.steps]]
            inner = [one for one in known if one.steps is None]
            return bool(steps) and all(_leaves(step, inner, there) for step in steps)
        if all(condition.holds(args, there) for condition in each.conditions):
            for condition in each.conditions:
                condition.settle(args, there)
            return True
    return False


def _read(signature: str, data: bytes) -> tuple[Any, ...] | None:  # Any: each argument has the type its ABI says
    try:
        return decode_input(signature, data)
    except AbiDecodeError:
        return None
