"""Judges whether the calls of a batch may be made, in the order of `_checkCalls` of CageCalls.sol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from permits_app.policy_cage.conditions import is_met
from permits_app.policy_cage.contract import (
    APPROVE,
    MOST_ALLOWANCE_SECONDS,
    MOST_CALLS,
    PERMIT2,
    UINT128_MAX,
    Limit,
    RuleKind,
    address_key,
    call_key,
    condition_key,
    role_call_key,
)
from permits_app.policy_cage.forbidden_selectors import FORBIDDEN_SELECTORS
from permits_app.policy_cage.preflight_types import UINT256_MAX, Observed, Refused, Right, value_of
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tools_app.chain.abi import AbiDecodeError, checksum, decode_values
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

_PERMIT2_APPROVE: Final = bytes.fromhex("87517c45")
_MULTICALL: Final = bytes.fromhex("ac9650d8")
_MULTICALLS: Final = (_MULTICALL, bytes.fromhex("5ae401dc"), bytes.fromhex("1f0464d1"))


def check_calls(state: CageState, calls: Sequence[Call], observed: Observed, role: int = 0) -> None:
    """Raises Refused with the first call that may not be made by that role."""
    if not 0 < len(calls) <= MOST_CALLS:
        raise Refused("CallCount", len(calls), MOST_CALLS)
    for call in calls:
        _check_call(state, call, observed, role)


def list_rights(state: CageState, calls: Sequence[Call]) -> list[Right]:
    """Every right that calls along the decoded paths name, once each; Permit2 itself takes nothing.

    What names no address names no right: `check_calls` refuses it.
    """
    found: dict[Right, None] = {}
    for call in calls:
        if call.to == PERMIT2 and len(call.data) == 132:
            token, spender, *_ = _words(call.data)
        elif len(call.data) == 68 and call.data[:4] == APPROVE and state.asset(call.to) is not None:
            token, spender = int(call.to, 16), _words(call.data)[0]
        else:
            continue
        if token >> 160 or spender >> 160:
            continue
        right = Right(_address(token), _address(spender), is_of_permit2=call.to == PERMIT2)
        if right.spender not in (PERMIT2, ZERO_ADDRESS):
            found[right] = None
    return list(found)


def _check_call(state: CageState, call: Call, observed: Observed, role: int) -> None:
    to, data = call.to, call.data
    if to in (state.account, state.cage) or to in observed.hooks:
        raise Refused("TargetForbidden", to)
    if to in observed.codeless:
        raise Refused("TargetHasNoCode", to)
    if to in observed.modules:
        raise Refused("TargetForbidden", to)
    if call.value and state.asset(NATIVE) is None:
        raise Refused("CoinNotApproved", call.value)
    if len(data) < 4:
        if data:
            raise Refused("CallDataMalformed", bytes(4))
        _check_not_owned(to, observed)
        return _check_listed(state, role, to, bytes(4), call.value, b"")
    selector = data[:4]
    if to == PERMIT2:
        return _check_permit2(state, role, selector, data, observed)
    if selector == APPROVE and state.asset(to) is not None:
        if len(data) != 68 or call.value:
            raise Refused("CallDataMalformed", selector)
        spender, amount = _words(data)
        return _check_allowance(state, role, observed, to, spender, amount, selector)
    _check_not_owned(to, observed)
    return _check_plain(state, role, to, selector, call.value, data)


def _check_not_owned(to: str, observed: Observed) -> None:
    if to in observed.owned:
        raise Refused("TargetForbidden", to)


def _check_plain(state: CageState, role: int, to: str, selector: bytes, value: int, data: bytes) -> None:
    if selector in FORBIDDEN_SELECTORS:
        raise Refused("SelectorForbidden", selector)
    _check_listed(state, role, to, selector, value, data)
    for inner in unwrap(selector, data):
        if len(inner) < 4:
            raise Refused("CallDataMalformed", selector)
        one = inner[:4]
        if one in _MULTICALLS or one in FORBIDDEN_SELECTORS:
            raise Refused("SelectorForbidden", one)
        _check_listed(state, role, to, one, value, inner)


def unwrap(selector: bytes, data: bytes) -> Sequence[bytes]:
    """The calls that a bundle of calls holds; none for any other function. Raises Refused."""
    if selector not in _MULTICALLS:
        return ()
    types = ("bytes[]",) if selector == _MULTICALL else ("bytes32", "bytes[]")
    try:
        inner: Sequence[bytes] = decode_values(types, data[4:])[-1]
    except AbiDecodeError:
        raise Refused("") from None
    return inner


def _check_permit2(state: CageState, role: int, selector: bytes, data: bytes, observed: Observed) -> None:
    if selector != _PERMIT2_APPROVE:
        raise Refused("SelectorForbidden", selector)
    if len(data) != 132:
        raise Refused("CallDataMalformed", selector)
    token, spender, amount, expiration = _words(data)
    if token >> 160:
        raise Refused("CallDataMalformed", selector)
    address = _address(token)
    if state.asset(address) is None:
        raise Refused("AssetNotApproved", address)
    latest = observed.now + MOST_ALLOWANCE_SECONDS
    if expiration > latest:
        raise Refused("AllowanceTooLong", expiration, latest)
    _check_allowance(state, role, observed, address, spender, amount, selector)


def _check_allowance(
    state: CageState, role: int, observed: Observed, token: str, spender: int, amount: int, selector: bytes
) -> None:
    if spender >> 160:
        raise Refused("CallDataMalformed", selector)
    if amount == 0:
        return
    _check_role(state, role, _address(spender), APPROVE)
    most = state.rule(RuleKind.SPENDER, spender.to_bytes(32, "big"))
    if most == 0:
        raise Refused("SpenderNotAllowed", _address(spender))
    worth = UINT256_MAX if amount > UINT128_MAX else value_of(observed, token, amount)
    if worth > most:
        raise Refused("AllowanceTooLarge", worth, most)


def _check_role(state: CageState, role: int, to: str, selector: bytes) -> None:
    """A role may call what it was given; to give an allowance is a call of its spender."""
    if role and not state.rule(RuleKind.ROLE_CALL, role_call_key(role, to, selector)):
        raise Refused("RoleMayNotCall", role, to, selector)


def _check_listed(state: CageState, role: int, to: str, selector: bytes, value: int, data: bytes) -> None:
    _check_role(state, role, to, selector)
    listed = state.rule(RuleKind.CALL, call_key(to, selector))
    if listed:
        return _check_conditions(state, to, selector, value, data, listed - 1)
    is_owners_own = state.asset(to) is not None or state.rule(RuleKind.VALUER, address_key(to))
    if is_owners_own or not state.limit(Limit.ALLOWS_ARBITRARY_CALLS):
        raise Refused("CallNotAllowed", to, selector)
    return None


def _check_conditions(state: CageState, to: str, selector: bytes, value: int, data: bytes, count: int) -> None:
    group, is_group_met = 0, True
    for place in range(count):
        condition = state.rule(RuleKind.CONDITION, condition_key(to, selector, place))
        one = condition >> 240 & 0xFF
        if place == 0 or one != group:
            if not is_group_met:
                raise Refused("ConditionNotMet", to, selector, place - 1)
            group, is_group_met = one, False
        is_group_met = is_group_met or is_met(
            condition,
            value=value,
            data=data,
            account=state.account,
            is_listed=lambda word: state.asset(_address(word)) is not None,
        )
    if not is_group_met:
        raise Refused("ConditionNotMet", to, selector, count - 1)


def _words(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 32], "big") for at in range(4, len(data), 32)]


def _address(word: int) -> str:
    return checksum(f"0x{word:040x}")
