"""What calls to Uniswap's routers and position manager do, read from their bytes.

Written from the contracts' interfaces and not from the tools that build the calls, so that a mistake in a tool is not
repeated here. Whatever is not known exactly raises UnknownCall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.liquidity_mining.addresses import mining_on
from tools_app.protocols.uniswap.liquidity_mining.effects import is_handed_in, read_handed_in, read_listed, read_staker
from tools_app.protocols.uniswap.packed_paths import unpack_path
from tools_app.protocols.uniswap.share_effects import REMOVE_SHARES, read_shares
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.effects import read_router
from tools_app.protocols.uniswap.v4.position_effects import read_position_call
from tools_app.standards.calldata import calls, check_bounded, read_exactly
from tools_app.toolkit.context import AbiValue, ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, MarketRead, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_TO_SENDER: Final = "0x0000000000000000000000000000000000000001"
_TO_ROUTER: Final = "0x0000000000000000000000000000000000000002"

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
_SWEEP: Final = "function sweepToken(address,uint256,address)"
_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_REFUND: Final = "function refundETH()"

_MINT: Final = "function mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
_INCREASE: Final = "function increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))"
_DECREASE: Final = "function decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))"
_COLLECT: Final = "function collect((uint256,address,uint128,uint128))"
_POSITIONS: Final = (
    "function positions(uint256) view returns (uint96, address, address token0, address token1, uint24, int24, int24,"
    " uint128, uint256, uint256, uint128, uint128)"
)
_OWNER_OF: Final = "function ownerOf(uint256) view returns (address)"
_NFT: Final = "nft"


class UniswapEffects:
    """Reads what is sent to the routers of V2, V3 and V4 and to the managers of V3 and V4 positions."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        desk = _Desk(deployment_on(chain.chain_id), account, chain, into)
        manager, mining = desk.place.v3_position_manager, mining_on(chain.chain_id)
        if mining is not None and call.to == manager and is_handed_in(call.data):
            read_handed_in(call, account=account, contracts=mining, into=into)
        elif mining is not None and call.to == mining.staker:
            read_staker(call, manager=manager, account=account, contracts=mining, into=into)
        elif mining is not None and call.to == mining.distributor:
            read_listed(call, account=account, contracts=mining, chain=chain, into=into)
        elif call.to == desk.place.v2_router:
            _read_v2(call, desk)
        elif call.to == desk.place.v3_router:
            _read_v3(call, desk)
        elif call.to == manager:
            _read_positions(call, desk)
        elif (v4 := v4_on(chain.chain_id)) is not None and call.to == v4.router:
            wrapped = desk.place.wrapped_native
            read_router(call, account=account, wrapped=wrapped, contracts=v4, chain=chain, into=into)
        elif v4 is not None and call.to == v4.positions:
            wrapped = desk.place.wrapped_native
            read_position_call(call, account=account, wrapped=wrapped, contracts=v4, chain=chain, into=into)
        else:
            raise UnknownCall(f"{call.to} of Uniswap is none of the contracts that plans call")


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where a call is read, for whom, and what came of it so far."""

    place: UniswapDeployment
    account: str
    chain: ChainReader
    into: Effects

    def trade(self, sold: str, bought: str, fee: int | None = None) -> None:
        self.into.markets.append(MarketRead(NAME, sold, bought, fee))

    def ref(self, position_id: int) -> PositionRef:
        """A position that a call touches. Raises UnknownCall for somebody else's."""
        (owner,) = self.chain.call(self.place.v3_position_manager, _OWNER_OF, position_id)
        if owner != self.account:
            raise UnknownCall(f"position {position_id} belongs to {owner}")
        return PositionRef(NAME, _NFT, self.chain.chain_id, str(position_id))

    def tokens_of(self, position_id: int) -> tuple[str, str]:
        found = self.chain.call(self.place.v3_position_manager, _POSITIONS, position_id)
        return found[2], found[3]

    def change(self, tokens: Sequence[str], ref: PositionRef | None) -> None:
        """Both legs move; how far is a matter of the range, which calldata does not tell."""
        for token in tokens:
            self.into.changes.append(ChangeRead(NAME, _NFT, token, 0, ref, is_exact=False))


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


def _read_v2(call: Call, desk: _Desk) -> None:
    if calls(call.data, REMOVE_SHARES):
        read_shares(call, place=desk.place, chain_id=desk.chain.chain_id, into=desk.into)
        return
    for signature, (spent_first, coin_in, coin_out) in _V2.items():
        if not calls(call.data, signature):
            continue
        *amounts, path, recipient, deadline = read_exactly(call.data, signature)
        if coin_in:
            spent, least = call.value, amounts[0]
        else:
            spent, least = amounts if spent_first else reversed(amounts)
            if call.value:
                raise UnknownCall("the V2 router is sent coin that this swap does not use")
        if len(path) < 2:
            raise UnknownCall("a V2 path has fewer than two tokens")
        _trade_along(path, desk)
        for end, is_coin in ((path[0], coin_in), (path[-1], coin_out)):
            if is_coin and end != desk.place.wrapped_native:
                raise UnknownCall("a V2 path with the coin does not end in its wrapped form")
        desk.into.spends[NATIVE if coin_in else path[0]] += spent
        desk.into.receives[NATIVE if coin_out else path[-1]] += least
        desk.into.recipients.append(recipient)
        desk.into.deadlines.append(deadline)
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


def _read_v3(call: Call, desk: _Desk) -> None:
    steps: Sequence[bytes] = (call.data,)
    if calls(call.data, _MULTICALL_UNTIL):
        deadline, steps = read_exactly(call.data, _MULTICALL_UNTIL)
        desk.into.deadlines.append(deadline)
    elif calls(call.data, _MULTICALL):
        (steps,) = read_exactly(call.data, _MULTICALL)
    state = _RouterState(value=call.value)
    for step in steps:
        _read_v3_step(step, desk, state)
    if state.value:
        raise UnknownCall("the V3 router is sent coin that no swap uses")
    if state.held is not None:
        raise UnknownCall("the V3 router would keep what a swap brought")
    if state.is_exact_out_with_coin and not state.refunds:
        raise UnknownCall("the V3 router would keep the coin a swap did not need")


def _read_v3_step(step: bytes, desk: _Desk, state: _RouterState) -> None:
    if calls(step, _UNWRAP):
        least, recipient = read_exactly(step, _UNWRAP)
        if state.held != desk.place.wrapped_native:
            raise UnknownCall("the V3 router unwraps what no swap brought")
        desk.into.receives[NATIVE] += least
        desk.into.recipients.append(_person(recipient, desk))
        state.held = None
    elif calls(step, _REFUND):
        read_exactly(step, _REFUND)
        state.refunds = True
    else:
        _read_v3_swap(_v3_swap(step), desk, state)


def _read_v3_swap(swap: _Swap, desk: _Desk, state: _RouterState) -> None:
    for pool in swap.pools:
        desk.trade(*pool)
    if not swap.pools:
        _trade_along(swap.path, desk)
    if state.held is not None:
        # An amount of zero means all the router holds, which the step before has just brought.
        if swap.spent or swap.is_exact_out or swap.path[0] != state.held:
            raise UnknownCall("the V3 router would keep what a swap brought")
        state.held = None
    elif state.value:
        if swap.path[0] != desk.place.wrapped_native or state.value != swap.spent:
            raise UnknownCall("the coin sent along is not exactly what the swap spends")
        desk.into.spends[NATIVE] += swap.spent
        state.value, state.is_exact_out_with_coin = 0, swap.is_exact_out
    elif not swap.spent:
        raise UnknownCall("a swap spends whatever the V3 router happens to hold")
    else:
        desk.into.spends[swap.path[0]] += swap.spent
    if swap.recipient == _TO_ROUTER:
        # What leaves the router is bounded where it leaves.
        state.held = swap.path[-1]
        return
    desk.into.receives[swap.path[-1]] += swap.least
    desk.into.recipients.append(_person(swap.recipient, desk))


def _v3_swap(step: bytes) -> _Swap:
    for signature, is_exact_out in ((_EXACT_IN_SINGLE, False), (_EXACT_OUT_SINGLE, True)):
        if calls(step, signature):
            ((token_in, token_out, fee, recipient, amount, limit, price_limit),) = read_exactly(step, signature)
            if price_limit:
                raise UnknownCall("a swap with a price limit may spend less than it says")
            return _make_swap([token_in, fee, token_out], recipient, amount, limit, is_exact_out)
    for signature, is_exact_out in ((_EXACT_IN, False), (_EXACT_OUT, True)):
        if calls(step, signature):
            ((packed, recipient, amount, limit),) = read_exactly(step, signature)
            path = unpack_path(packed)
            return _make_swap(path[::-1] if is_exact_out else path, recipient, amount, limit, is_exact_out)
    for signature, is_exact_out in ((_V2_IN_ROUTER, False), (_V2_OUT_ROUTER, True)):
        if calls(step, signature):
            amount, limit, tokens, recipient = read_exactly(step, signature)
            if len(tokens) < 2:
                raise UnknownCall("a V2 path has fewer than two tokens")
            spent, least = (limit, amount) if is_exact_out else (amount, limit)
            return _Swap(tuple(tokens), (), recipient, spent, least, is_exact_out)
    raise UnknownCall(f"selector 0x{step[:4].hex()} of the V3 router is not known")


def _make_swap(path: Sequence[AbiValue], recipient: str, amount: int, limit: int, is_exact_out: bool) -> _Swap:
    """`path` is token, fee, token, …; the exact amount comes first in the calldata, its limit second."""
    pools = tuple((a, b, fee) for a, fee, b in zip(path[::2], path[1::2], path[2::2], strict=False))
    spent, least = (limit, amount) if is_exact_out else (amount, limit)
    return _Swap(tuple(path[::2]), pools, recipient, spent, least, is_exact_out)


def _person(recipient: str, desk: _Desk) -> str:
    return desk.account if recipient == _TO_SENDER else recipient


# ---- Uniswap V3 positions ------------------------------------------------------------------------------------------


def _read_positions(call: Call, desk: _Desk) -> None:
    if call.value:
        raise UnknownCall("the position manager is sent coin")
    steps: Sequence[bytes] = (call.data,)
    if calls(call.data, _MULTICALL):
        (steps,) = read_exactly(call.data, _MULTICALL)
    held: set[str] = set()
    for step in steps:
        _read_position_step(step, desk, held)
    if held:
        raise UnknownCall("the position manager would keep what a position paid")


def _read_position_step(step: bytes, desk: _Desk, held: set[str]) -> None:
    """`held` are the tokens that the manager holds for the account after it."""
    into = desk.into
    if calls(step, _MINT):
        ((token0, token1, fee, _, _, most0, most1, least0, least1, recipient, deadline),) = read_exactly(step, _MINT)
        check_bounded(least0, least1)
        into.spends[token0] += most0
        into.spends[token1] += most1
        desk.trade(token0, token1, fee)
        desk.change((token0, token1), None)
        into.recipients.append(recipient)
        into.deadlines.append(deadline)
    elif calls(step, _INCREASE):
        ((position_id, most0, most1, least0, least1, deadline),) = read_exactly(step, _INCREASE)
        check_bounded(least0, least1)
        tokens = desk.tokens_of(position_id)
        for token, most in zip(tokens, (most0, most1), strict=True):
            into.spends[token] += most
        desk.change(tokens, desk.ref(position_id))
        into.deadlines.append(deadline)
    elif calls(step, _DECREASE):
        ((position_id, _, least0, least1, deadline),) = read_exactly(step, _DECREASE)
        check_bounded(least0, least1)
        tokens = desk.tokens_of(position_id)
        for token, least in zip(tokens, (least0, least1), strict=True):
            into.receives[token] += least
            into.open_minimums.add(token)
        desk.change(tokens, desk.ref(position_id))
        into.deadlines.append(deadline)
    elif calls(step, _COLLECT):
        ((position_id, recipient, _, _),) = read_exactly(step, _COLLECT)
        tokens = desk.tokens_of(position_id)
        into.open_minimums.update(tokens)
        desk.change(tokens, desk.ref(position_id))
        if recipient == _NOBODY:
            # The manager reads it as itself.
            held.update(tokens)
        else:
            into.recipients.append(recipient)
    elif calls(step, _UNWRAP):
        least, recipient = read_exactly(step, _UNWRAP)
        _read_payment(desk.place.wrapped_native, NATIVE, least, recipient, desk, held)
    elif calls(step, _SWEEP):
        token, least, recipient = read_exactly(step, _SWEEP)
        _read_payment(token, token, least, recipient, desk, held)
    else:
        raise UnknownCall(f"selector 0x{step[:4].hex()} of the position manager is not known")


def _read_payment(token: str, paid_in: str, least: int, recipient: str, desk: _Desk, held: set[str]) -> None:
    """What the manager holds of a token is paid out whole, no less than `least` of it."""
    if token not in held or recipient in (_NOBODY, desk.place.v3_position_manager):
        raise UnknownCall("the position manager pays out what no position brought it, or to nobody")
    held.discard(token)
    into = desk.into
    into.recipients.append(recipient)
    if paid_in != token:
        # No less was asked for of the position.
        if into.receives[token] > least:
            raise UnknownCall("less of the coin is asked for than of the wrapped coin that it comes from")
        del into.receives[token]
        into.receives[paid_in] += least
        into.open_minimums.add(paid_in)


def _trade_along(path: Sequence[str], desk: _Desk) -> None:
    """Through V2 pairs, which have one pool and no choice of fee."""
    for sold, bought in pairwise(path):
        desk.trade(sold, bought)
