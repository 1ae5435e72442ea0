"""What a halted golem may still sign: allowances set to zero, protocols' rights taken back, and its positions left,
everything to its own account.

Judged from the bytes of the permit and what protocols say leaves them, not from what made it. A debt may be repaid:
what a leaving call takes is allowed to its contract before it. Where the owner lets a halt sell, so may a swap for the
account alone. Seed: decisions, "Halt".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.custody.signing_route import carries_its_batch
from permits_app.execution.halt_sales import does_sell
from permits_app.models import ActionPermit
from tools_app.chain.abi import AbiDecodeError, decode_input
from tools_app.portfolio.asked_rights import takes_back_an_asked_right
from tools_app.portfolio.standing_rights import takes_back_a_right
from tools_app.toolkit.protocol import SHELF, LeavingCall

_APPROVE: Final = "function approve(address,uint256)"
_APPROVE_LENGTH: Final = 68


def is_halts_own(permit: ActionPermit, golem: Golem) -> bool:
    """Whether the halt itself sends this: made under the present halt, and every call one of those kinds."""
    if permit.halt_epoch is None or permit.halt_epoch != golem.halt_epoch or not permit.calls:
        return False
    calls = permit.plan_calls
    sold = [call for call in calls if _is_sale(call, permit.chain_id, permit.account)]
    if sold and not does_sell(golem):
        return False
    left = [call for call in calls if _is_leaving(call, permit.chain_id, permit.account)]
    to = [call["to"] for call in (*left, *sold)]
    return carries_its_batch(permit) and all(
        call["value"] == "0"
        and (
            call in left
            or call in sold
            or _is_approval_for(call, calls[index + 1 :], to)
            or takes_back_a_right(chain_id=permit.chain_id, contract=call["to"], data=_bytes_of(call))
            or takes_back_an_asked_right(chain_id=permit.chain_id, contract=call["to"], data=_bytes_of(call))
        )
        for index, call in enumerate(calls)
    )


def _is_approval_for(call: Mapping[str, Any], later: Sequence[Mapping[str, Any]], left: Sequence[str]) -> bool:
    """An allowance taken back, or one for a contract that a later call of the same permit leaves."""
    data = _bytes_of(call)
    read = _read(_APPROVE, data) if len(data) == _APPROVE_LENGTH else None
    if read is None:
        return False
    spender, amount = read
    return amount == 0 or (spender in left and any(each["to"] == spender for each in later))


def _is_leaving(call: Mapping[str, Any], chain_id: int, account: str) -> bool:
    """A call that a protocol declares to take out, or to pay debt, for `account` alone."""
    protocol = SHELF.of_contract(chain_id, call["to"])
    if protocol is None:
        return False
    here = [each for each in protocol.leaving if protocol.address(chain_id, each.key) == call["to"]]
    return _leaves(_bytes_of(call), here, account)


def _is_sale(call: Mapping[str, Any], chain_id: int, account: str) -> bool:
    """A swap of tokens for `account` alone, as the protocol declares it."""
    protocol = SHELF.of_contract(chain_id, call["to"])
    if protocol is None or not protocol.selling:
        return False
    here = [each for each in protocol.selling if protocol.address(chain_id, each.key) == call["to"]]
    return _leaves(_bytes_of(call), here, account)


def _leaves(data: bytes, known: Sequence[LeavingCall], account: str) -> bool:
    for each in known:
        args = _read(each.signature, data)
        if args is None:
            continue
        if each.steps is not None:
            steps = [bytes(step) for step in args[each.steps]]
            inner = [one for one in known if one.steps is None]
            return bool(steps) and all(_leaves(step, inner, account) for step in steps)
        is_own = all(str(_at(args, place)).lower() == account.lower() for place in each.own)
        return is_own and all(int(_at(args, place)) <= 0 for place in each.never_up)
    return False


def _at(args: Any, place: Sequence[int]) -> Any:
    for index in place:
        args = args[index]
    return args


def _bytes_of(call: Mapping[str, Any]) -> bytes:
    return bytes.fromhex(str(call["data"]).removeprefix("0x"))


def _read(signature: str, data: bytes) -> tuple[Any, ...] | None:
    try:
        return decode_input(signature, data)
    except AbiDecodeError:
        return None
