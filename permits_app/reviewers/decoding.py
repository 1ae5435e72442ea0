"""Reads calldata back into money: what each call takes at most, brings at least, to whom and until when.

Written from the contracts' interfaces and not from the tools that build the calls, so that a mistake in a tool is
not repeated here. Whatever is not known exactly raises UnknownCall. Seed: 001, "safety-guardian".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, checksum, decode_input, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

_TO_SENDER: Final = "0x0000000000000000000000000000000000000001"
_TO_ROUTER: Final = "0x0000000000000000000000000000000000000002"
_ADDRESS_BYTES, _FEE_BYTES = 20, 3

_APPROVE: Final = "function approve(address,uint256)"
_TRANSFER: Final = "function transfer(address,uint256)"
_DEPOSIT: Final = "function deposit()"
_WITHDRAW: Final = "function withdraw(uint256)"

_SINGLE: Final = "(address,address,uint24,address,uint256,uint256,uint160)"
_MULTI: Final = "(bytes,address,uint256,uint256)"
_EXACT_IN_SINGLE: Final = f"function exactInputSingle({_SINGLE})"
_EXACT_IN: Final = f"function exactInput({_MULTI})"
_EXACT_OUT_SINGLE: Final = f"function exactOutputSingle({_SINGLE})"
_EXACT_OUT: Final = f"function exactOutput({_MULTI})"
_V2_IN_ROUTER: Final = "function swapExactTokensForTokens(uint256,uint256,address[],address)"
_V2_OUT_ROUTER: Final = "function swapTokensForExactTokens(uint256,uint256,address[],address)"
_MULTICALL: Final = "function multicall(bytes[])"
_MULTICALL_UNTIL: Final = "function multicall(uint256,bytes[])"
_UNWRAP: Final = "function unwrapWETH9(uint256,address)"
_REFUND: Final = "function refundETH()"

_MINT: Final = "function mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
_INCREASE: Final = "function increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))"
_DECREASE: Final = "function decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))"
_COLLECT: Final = "function collect((uint256,address,uint128,uint128))"


class UnknownCall(ValueError):
    """Bytes this reader cannot account for completely."""


@dataclass(frozen=True, slots=True)
class Venue:
    """The contracts of one chain this reader knows, checksummed; `account` is the golem's own address.

    `tokens_of_position` tells the two tokens of a liquidity position.
    """

    account: str
    wrapped_native: str
    v2_router: str
    v3_router: str
    v3_position_manager: str
    tokens_of_position: Callable[[int], tuple[str, str]]

    @property
    def spenders(self) -> frozenset[str]:
        """Contracts that take tokens by allowance."""
        return frozenset({self.v2_router, self.v3_router, self.v3_position_manager})


@dataclass(slots=True)
class Reading:
    """The sum of all calls read so far. Amounts are base units by token address, the coin under NATIVE.

    `approvals` are (token, spender, amount); `pools` (token, token, fee) of V3 and `v2_pools` (token, token), of a swap
    in the order sold, bought; `recipients` everyone who is paid.
    `open_minimums` are tokens whose receipt the calldata bounds only in part, as fees owed to a position.
    """

    spends: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    receives: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    approvals: list[tuple[str, str, int]] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    deadlines: list[int] = field(default_factory=list)
    position_ids: list[int] = field(default_factory=list)
    pools: list[tuple[str, str, int]] = field(default_factory=list)
    open_minimums: set[str] = field(default_factory=set)
    paid_plainly: list[str] = field(default_factory=list)
    v2_pools: list[tuple[str, str]] = field(default_factory=list)


def read_calls(calls: Sequence[Call], venue: Venue) -> Reading:
    """Everything `calls` do. Raises UnknownCall on any byte that is not accounted for."""
    reading = Reading()
    for call in calls:
        _read_call(call, venue, reading)
    return reading


def _read_call(call: Call, venue: Venue, reading: Reading) -> None:
    if not call.data:
        _pay(reading, NATIVE, call.value, call.to)
    elif call.to == venue.v2_router:
        _read_v2(call, venue, reading)
    elif call.to == venue.v3_router:
        _read_v3(call, venue, reading)
    elif call.to == venue.v3_position_manager:
        _read_positions(call, venue, reading)
    else:
        _read_token(call, venue, reading)


# ---- tokens --------------------------------------------------------------------------------------------------------


def _read_token(call: Call, venue: Venue, reading: Reading) -> None:
    if call.to == venue.wrapped_native and _is(call.data, _DEPOSIT):
        _exactly(call.data, _DEPOSIT)
        reading.spends[NATIVE] += call.value
        reading.receives[call.to] += call.value
        return
    if call.value:
        raise UnknownCall(f"{call.to} is sent coin along with a call it is not known to take it for")
    if _is(call.data, _APPROVE):
        spender, amount = _exactly(call.data, _APPROVE)
        reading.approvals.append((call.to, spender, amount))
    elif _is(call.data, _TRANSFER):
        recipient, amount = _exactly(call.data, _TRANSFER)
        _pay(reading, call.to, amount, recipient)
    elif call.to == venue.wrapped_native and _is(call.data, _WITHDRAW):
        (amount,) = _exactly(call.data, _WITHDRAW)
        reading.spends[call.to] += amount
        reading.receives[NATIVE] += amount
    else:
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _pay(reading: Reading, token: str, amount: int, recipient: str) -> None:
    reading.spends[token] += amount
    reading.recipients.append(recipient)
    reading.paid_plainly.append(recipient)


# ---- Uniswap V2 router ---------------------------------------------------------------------------------------------

_V2_TAIL: Final = "address[],address,uint256"
_V2_IN: Final = f"(uint256,uint256,{_V2_TAIL})"
_V2_COIN: Final = f"(uint256,{_V2_TAIL})"
_FEE: Final = "SupportingFeeOnTransferTokens"
# Signature: (first amount is what is spent, coin goes in, coin comes out)
_V2: Final[Mapping[str, tuple[bool, bool, bool]]] = {
    f"function swapExactTokensForTokens{_V2_IN}": (True, False, False),
    f"function swapExactTokensForTokens{_FEE}{_V2_IN}": (True, False, False),
    f"function swapExactTokensForETH{_V2_IN}": (True, False, True),
    f"function swapExactTokensForETH{_FEE}{_V2_IN}": (True, False, True),
    f"function swapTokensForExactTokens{_V2_IN}": (False, False, False),
    f"function swapTokensForExactETH{_V2_IN}": (False, False, True),
    f"function swapExactETHForTokens{_V2_COIN}": (False, True, False),
    f"function swapExactETHForTokens{_FEE}{_V2_COIN}": (False, True, False),
    f"function swapETHForExactTokens{_V2_COIN}": (False, True, False),
}


def _read_v2(call: Call, venue: Venue, reading: Reading) -> None:
    for signature, (spent_first, coin_in, coin_out) in _V2.items():
        if not _is(call.data, signature):
            continue
        *amounts, path, recipient, deadline = _exactly(call.data, signature)
        if coin_in:
            spent, least = call.value, amounts[0]
        else:
            spent, least = amounts if spent_first else reversed(amounts)
            if call.value:
                raise UnknownCall("the V2 router is sent coin that this swap does not use")
        if len(path) < 2:
            raise UnknownCall("a V2 path has fewer than two tokens")
        reading.v2_pools.extend(pairwise(path))
        for end, is_coin in ((path[0], coin_in), (path[-1], coin_out)):
            if is_coin and end != venue.wrapped_native:
                raise UnknownCall("a V2 path with the coin does not end in its wrapped form")
        reading.spends[NATIVE if coin_in else path[0]] += spent
        reading.receives[NATIVE if coin_out else path[-1]] += least
        reading.recipients.append(recipient)
        reading.deadlines.append(deadline)
        return
    raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the V2 router is not known")


# ---- Uniswap V3 router ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _RouterState:
    """Coin sent along and not yet accounted for; the token the router holds for the next step; whether it refunds."""

    value: int
    held: str | None = None
    is_exact_out_with_coin: bool = False
    refunds: bool = False


@dataclass(frozen=True, slots=True)
class _Swap:
    """One swap of the V3 router: tokens in path order, V3 pools, and amounts in base units."""

    path: tuple[str, ...]
    pools: tuple[tuple[str, str, int], ...]
    recipient: str
    spent: int
    least: int
    is_exact_out: bool


def _read_v3(call: Call, venue: Venue, reading: Reading) -> None:
    steps: Sequence[bytes] = (call.data,)
    if _is(call.data, _MULTICALL_UNTIL):
        deadline, steps = _exactly(call.data, _MULTICALL_UNTIL)
        reading.deadlines.append(deadline)
    elif _is(call.data, _MULTICALL):
        (steps,) = _exactly(call.data, _MULTICALL)
    state = _RouterState(value=call.value)
    for step in steps:
        _read_v3_step(step, venue, reading, state)
    if state.value:
        raise UnknownCall("the V3 router is sent coin that no swap uses")
    if state.held is not None:
        raise UnknownCall("the V3 router would keep what a swap brought")
    if state.is_exact_out_with_coin and not state.refunds:
        raise UnknownCall("the V3 router would keep the coin a swap did not need")


def _read_v3_step(step: bytes, venue: Venue, reading: Reading, state: _RouterState) -> None:
    if _is(step, _UNWRAP):
        least, recipient = _exactly(step, _UNWRAP)
        if state.held != venue.wrapped_native:
            raise UnknownCall("the V3 router unwraps what no swap brought")
        reading.receives[NATIVE] += least
        reading.recipients.append(_person(recipient, venue))
        state.held = None
    elif _is(step, _REFUND):
        _exactly(step, _REFUND)
        state.refunds = True
    else:
        _read_v3_swap(_v3_swap(step), venue, reading, state)


def _read_v3_swap(swap: _Swap, venue: Venue, reading: Reading, state: _RouterState) -> None:
    reading.pools.extend(swap.pools)
    if not swap.pools:
        reading.v2_pools.extend(pairwise(swap.path))
    if state.held is not None:
        # An amount of zero means all the router holds, which the step before has just brought.
        if swap.spent or swap.is_exact_out or swap.path[0] != state.held:
            raise UnknownCall("the V3 router would keep what a swap brought")
        state.held = None
    elif state.value:
        if swap.path[0] != venue.wrapped_native or state.value != swap.spent:
            raise UnknownCall("the coin sent along is not exactly what the swap spends")
        reading.spends[NATIVE] += swap.spent
        state.value, state.is_exact_out_with_coin = 0, swap.is_exact_out
    elif not swap.spent:
        raise UnknownCall("a swap spends whatever the V3 router happens to hold")
    else:
        reading.spends[swap.path[0]] += swap.spent
    if swap.recipient == _TO_ROUTER:
        # What leaves the router is bounded where it leaves.
        state.held = swap.path[-1]
        return
    reading.receives[swap.path[-1]] += swap.least
    reading.recipients.append(_person(swap.recipient, venue))


def _v3_swap(step: bytes) -> _Swap:
    for signature, is_exact_out in ((_EXACT_IN_SINGLE, False), (_EXACT_OUT_SINGLE, True)):
        if _is(step, signature):
            ((token_in, token_out, fee, recipient, amount, limit, price_limit),) = _exactly(step, signature)
            if price_limit:
                raise UnknownCall("a swap with a price limit may spend less than it says")
            return _make_swap([token_in, fee, token_out], recipient, amount, limit, is_exact_out)
    for signature, is_exact_out in ((_EXACT_IN, False), (_EXACT_OUT, True)):
        if _is(step, signature):
            ((packed, recipient, amount, limit),) = _exactly(step, signature)
            path = _unpack_path(packed)
            return _make_swap(path[::-1] if is_exact_out else path, recipient, amount, limit, is_exact_out)
    for signature, is_exact_out in ((_V2_IN_ROUTER, False), (_V2_OUT_ROUTER, True)):
        if _is(step, signature):
            amount, limit, tokens, recipient = _exactly(step, signature)
            if len(tokens) < 2:
                raise UnknownCall("a V2 path has fewer than two tokens")
            spent, least = (limit, amount) if is_exact_out else (amount, limit)
            return _Swap(tuple(tokens), (), recipient, spent, least, is_exact_out)
    raise UnknownCall(f"selector 0x{step[:4].hex()} of the V3 router is not known")


def _make_swap(path: Sequence[Any], recipient: str, amount: int, limit: int, is_exact_out: bool) -> _Swap:
    """`path` is token, fee, token, …; the exact amount comes first in the calldata, its limit second."""
    pools = tuple((a, b, fee) for a, fee, b in zip(path[::2], path[1::2], path[2::2], strict=False))
    spent, least = (limit, amount) if is_exact_out else (amount, limit)
    return _Swap(tuple(path[::2]), pools, recipient, spent, least, is_exact_out)


def _unpack_path(packed: bytes) -> list[Any]:
    step = _ADDRESS_BYTES + _FEE_BYTES
    if len(packed) < _ADDRESS_BYTES + step or (len(packed) - _ADDRESS_BYTES) % step:
        raise UnknownCall("a V3 path has a length no path has")
    path: list[Any] = [_address(packed[:_ADDRESS_BYTES])]
    for at in range(_ADDRESS_BYTES, len(packed), step):
        path.append(int.from_bytes(packed[at : at + _FEE_BYTES], "big"))
        path.append(_address(packed[at + _FEE_BYTES : at + step]))
    return path


def _person(recipient: str, venue: Venue) -> str:
    return venue.account if recipient == _TO_SENDER else recipient


# ---- Uniswap V3 positions ------------------------------------------------------------------------------------------


def _read_positions(call: Call, venue: Venue, reading: Reading) -> None:
    if call.value:
        raise UnknownCall("the position manager is sent coin")
    steps: Sequence[bytes] = (call.data,)
    if _is(call.data, _MULTICALL):
        (steps,) = _exactly(call.data, _MULTICALL)
    for step in steps:
        _read_position_step(step, venue, reading)


def _read_position_step(step: bytes, venue: Venue, reading: Reading) -> None:
    if _is(step, _MINT):
        ((token0, token1, fee, _, _, most0, most1, _, _, recipient, deadline),) = _exactly(step, _MINT)
        reading.spends[token0] += most0
        reading.spends[token1] += most1
        reading.pools.append((token0, token1, fee))
        reading.recipients.append(recipient)
        reading.deadlines.append(deadline)
    elif _is(step, _INCREASE):
        ((position_id, most0, most1, _, _, deadline),) = _exactly(step, _INCREASE)
        for token, most in zip(venue.tokens_of_position(position_id), (most0, most1), strict=True):
            reading.spends[token] += most
        reading.position_ids.append(position_id)
        reading.deadlines.append(deadline)
    elif _is(step, _DECREASE):
        ((position_id, _, least0, least1, deadline),) = _exactly(step, _DECREASE)
        for token, least in zip(venue.tokens_of_position(position_id), (least0, least1), strict=True):
            reading.receives[token] += least
            reading.open_minimums.add(token)
        reading.position_ids.append(position_id)
        reading.deadlines.append(deadline)
    elif _is(step, _COLLECT):
        ((position_id, recipient, _, _),) = _exactly(step, _COLLECT)
        reading.open_minimums.update(venue.tokens_of_position(position_id))
        reading.position_ids.append(position_id)
        reading.recipients.append(recipient)
    else:
        raise UnknownCall(f"selector 0x{step[:4].hex()} of the position manager is not known")


# ---- bytes ---------------------------------------------------------------------------------------------------------


def _is(data: bytes, signature: str) -> bool:
    return data[:4] == _selector(signature)


def _exactly(data: bytes, signature: str) -> tuple[Any, ...]:
    """The arguments, if encoding them again gives the same bytes: nothing hides behind or between them."""
    try:
        values = decode_input(signature, data)
    except AbiDecodeError as error:
        raise UnknownCall(f"the arguments of {signature} do not decode") from error
    if encode_call(signature, *values) != data:
        raise UnknownCall(f"the bytes of {signature} hold more than its arguments")
    return values


def _selector(signature: str) -> bytes:
    return parse_signature(signature).selector


def _address(raw: bytes) -> str:
    return checksum("0x" + raw.hex())
