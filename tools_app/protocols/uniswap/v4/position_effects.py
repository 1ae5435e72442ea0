"""What a call of V4's position manager does, read from its bytes: one position a call, paid for and paid out whole. A
permit that the account signed may come before it.

Written from the manager's interface. Of a position that is named by its number the manager tells the pool, and only
that its owner changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tools_app.protocols.uniswap.addresses import NAME
from tools_app.protocols.uniswap.v4.addresses import V4Contracts
from tools_app.protocols.uniswap.v4.exact_values import check_no_hook_data, read_key, read_values
from tools_app.protocols.uniswap.v4.keys import COIN, KEY_TYPE, PoolKey, hooks_of
from tools_app.protocols.uniswap.v4.position_permits import MULTICALL, split_permit
from tools_app.standards.calldata import calls, check_bounded, read_exactly
from tools_app.standards.permit2_in_calldata import check_inner
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, MarketRead, UnknownCall
from tools_app.toolkit.exit_conditions import There
from tools_app.toolkit.plan import Call, ItemGiven
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_MODIFY: Final = "function modifyLiquidities(bytes,uint256)"
_OWNER_OF: Final = "function ownerOf(uint256) view returns (address)"
_POOL_OF: Final = f"function getPoolAndPositionInfo(uint256) view returns ({KEY_TYPE}, uint256)"
_INCREASE, _DECREASE, _MINT, _BURN = 0x00, 0x01, 0x02, 0x03
_SETTLE_PAIR, _TAKE_PAIR, _CLOSE, _SWEEP = 0x0D, 0x11, 0x12, 0x14
_MINTED: Final = (KEY_TYPE, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes")
_CHANGED: Final = ("uint256", "uint256", "uint128", "uint128", "bytes")
_BURNED: Final = ("uint256", "uint128", "uint128", "bytes")
_NFT: Final = "nft"
_TO_SENDER: Final = "0x0000000000000000000000000000000000000001"
_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_TO_MANAGER: Final = "0x0000000000000000000000000000000000000002"


@dataclass(frozen=True, slots=True)
class _V4Desk:
    """Where a call is read, for whom, and what came of it so far."""

    account: str
    wrapped: str
    contracts: V4Contracts
    chain: ChainReader
    into: Effects

    def tell(self, key: PoolKey, number: int | None) -> None:
        """Both legs of the position move, and its pool with its hook is reached. Raises UnknownCall."""
        ref = None
        if number is not None:
            (owner,) = self.chain.call(self.contracts.positions, _OWNER_OF, number)
            if owner != self.account:
                raise UnknownCall(f"V4 position {number} belongs to {owner}")
            ref = PositionRef(NAME, _NFT, self.chain.chain_id, f"v4:{number}")
        for token in _tokens(key):
            self.into.changes.append(ChangeRead(NAME, _NFT, token, 0, ref, is_exact=False))
        sold, bought = (self.wrapped if each == COIN else each for each in (key.currency0, key.currency1))
        self.into.markets.append(MarketRead(NAME, sold, bought, pool=PoolId(key.pool_id, self.contracts.manager)))
        found = hooks_of(key)
        if found is not None:
            self.into.hooks.append(found)

    def pool_of(self, number: int) -> PoolKey:
        words, _ = self.chain.call(self.contracts.positions, _POOL_OF, number)
        return read_key(words)

    def pay(self, recipient: str) -> None:
        """Raises UnknownCall for the manager itself, where anybody would take it."""
        if recipient in (_TO_MANAGER, self.contracts.positions):
            raise UnknownCall("V4's position manager would keep what it is to pay out")
        self.into.recipients.append(self.account if recipient == _TO_SENDER else recipient)


def read_position_call(
    call: Call, *, account: str, wrapped: str, contracts: V4Contracts, chain: ChainReader, into: Effects
) -> None:
    """Add what `call` to the position manager does. Raises UnknownCall, and what the chain raises."""
    if calls(call.data, MULTICALL):
        owner, permit, then = split_permit(call.data)
        if owner != account:
            raise UnknownCall(f"a permit inside a call is said to be of {owner}")
        check_inner(permit, account=account, carried_by=contracts.positions, chain=chain)
        into.approvals += [(each.token, permit.spender, each.amount) for each in permit.gives]
        into.deadlines.append(permit.ends_at)
        call = replace(call, data=then)
    if not calls(call.data, _MODIFY):
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of V4's position manager is not known")
    unlock, deadline = read_exactly(call.data, _MODIFY)
    codes, params = _read_actions(unlock)
    desk = _V4Desk(account, wrapped, contracts, chain, into)
    if codes[0] == _MINT:
        _read_mint(codes, params, call.value, desk)
    elif codes[0] == _INCREASE:
        _read_increase(codes, params, call.value, desk)
    elif codes[0] in (_DECREASE, _BURN):
        _read_withdrawal(codes, params, call.value, desk)
    else:
        raise UnknownCall(f"action 0x{codes[0]:02x} of V4's position manager is not known")
    into.deadlines.append(deadline)


def _read_mint(codes: bytes, params: Sequence[bytes], value: int, desk: _V4Desk) -> None:
    words, _, _, _, most0, most1, recipient, hook_data = read_values(_MINTED, params[0])
    key = read_key(words)
    check_no_hook_data(hook_data)
    if codes[:2] != bytes((_MINT, _SETTLE_PAIR)) or read_values(("address", "address"), params[1]) != _pair(key):
        raise UnknownCall("a V4 position is not paid for in the currencies of its pool")
    _read_payment(key, (most0, most1), codes[2:], params[2:], value, desk)
    desk.pay(recipient)
    desk.tell(key, None)


def _read_increase(codes: bytes, params: Sequence[bytes], value: int, desk: _V4Desk) -> None:
    number, _, most0, most1, hook_data = read_values(_CHANGED, params[0])
    key = desk.pool_of(number)
    check_no_hook_data(hook_data)
    if codes[:3] != bytes((_INCREASE, _CLOSE, _CLOSE)):
        raise UnknownCall("a V4 position grows and is not paid for in both currencies of its pool")
    if (*read_values(("address",), params[1]), *read_values(("address",), params[2])) != _pair(key):
        raise UnknownCall("a V4 position is not paid for in the currencies of its pool")
    _read_payment(key, (most0, most1), codes[3:], params[3:], value, desk)
    # Fees that it earned are counted against what goes in, or paid to who calls.
    desk.into.open_minimums.update(_tokens(key))
    desk.tell(key, number)


def _read_payment(
    key: PoolKey, most: tuple[int, int], codes: bytes, params: Sequence[bytes], value: int, desk: _V4Desk
) -> None:
    """What goes in at most, and that what is left of the coin comes back."""
    for token, amount in zip(_tokens(key), most, strict=True):
        desk.into.spends[token] += amount
    coin = most[0] if key.currency0 == COIN else 0
    if value != coin:
        raise UnknownCall("the coin sent along is not exactly the most that the position takes of it")
    if not coin:
        if codes:
            raise UnknownCall("V4's position manager is asked for more than one change of a position")
        return
    if codes != bytes((_SWEEP,)):
        raise UnknownCall("V4's position manager would keep the coin that the position does not need")
    currency, recipient = read_values(("address", "address"), params[0])
    if currency != COIN:
        raise UnknownCall("V4's position manager would keep the coin that the position does not need")
    desk.pay(recipient)


def _read_withdrawal(codes: bytes, params: Sequence[bytes], value: int, desk: _V4Desk) -> None:
    if value:
        raise UnknownCall("V4's position manager is sent coin where a position only pays out")
    number, least, recipient, pair = _read_taken(codes, params)
    key = desk.pool_of(number)
    if pair != _pair(key):
        raise UnknownCall("what is taken out of V4 is not both currencies of the pool")
    for token, amount in zip(_tokens(key), least, strict=True):
        desk.into.receives[token] += amount
        desk.into.open_minimums.add(token)
    desk.pay(recipient)
    if codes[0] == _BURN:
        desk.into.items.append(ItemGiven(desk.contracts.positions, number, _NOBODY))
    desk.tell(key, number)


def _read_taken(codes: bytes, params: Sequence[bytes]) -> tuple[int, tuple[int, int], str, tuple[str, str]]:
    """The position's number, the least of both, who is paid and in what. Raises UnknownCall."""
    if len(codes) != 2 or codes[1] != _TAKE_PAIR:
        raise UnknownCall("what comes out of a V4 position is not taken whole")
    if codes[0] == _BURN:
        number, least0, least1, hook_data = read_values(_BURNED, params[0])
        check_bounded(least0, least1)
    else:
        number, liquidity, least0, least1, hook_data = read_values(_CHANGED, params[0])
        if liquidity:
            check_bounded(least0, least1)
    check_no_hook_data(hook_data)
    first, second, recipient = read_values(("address", "address", "address"), params[1])
    return number, (least0, least1), recipient, (first, second)


@dataclass(frozen=True, slots=True)
class OnlyTakesOut:
    """The actions only take liquidity or fees of a position out, and all that comes out is paid to the account."""

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether they do."""
        try:
            codes, params = _read_actions(args[0])
            if codes[0] not in (_DECREASE, _BURN):
                return False
            _, _, recipient, _ = _read_taken(codes, params)
        except UnknownCall:
            return False
        return recipient in (_TO_SENDER, there.account)

    def settle(self, args: Sequence[object], there: There) -> None:
        """Nothing: a position is no balance."""


def _read_actions(unlock: bytes) -> tuple[bytes, Sequence[bytes]]:
    codes, params = read_values(("bytes", "bytes[]"), unlock)
    if not codes or len(codes) != len(params):
        raise UnknownCall("V4's position manager is given more actions than parameters, or less, or none")
    return codes, params


def _pair(key: PoolKey) -> tuple[str, str]:
    return key.currency0, key.currency1


def _tokens(key: PoolKey) -> tuple[str, str]:
    return NATIVE if key.currency0 == COIN else key.currency0, key.currency1
