"""What a call of the Universal Router does that swaps in pools of V2, V3 or V4, read from its bytes.

Written from the router's and the manager's interfaces. One swap a call; what it pays with, where its proceeds go and
what becomes of the rest have to be told whole, so that nothing stays with the router, where anybody takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.uniswap.addresses import NAME
from tools_app.protocols.uniswap.router_permits import is_permit, read_permit
from tools_app.protocols.uniswap.router_swaps import SWAP_COMMANDS, RouterSwap, read_router_swap
from tools_app.protocols.uniswap.v4.addresses import V4Contracts
from tools_app.protocols.uniswap.v4.exact_values import check_no_hook_data, read_key, read_values
from tools_app.protocols.uniswap.v4.keys import COIN, KEY_TYPE, PoolKey, hooks_of
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.permit2_in_calldata import check_inner
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, MarketRead, UnknownCall
from tools_app.toolkit.permit2_in_call import InnerPermit
from tools_app.toolkit.plan import Call
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import NATIVE

_EXECUTE: Final = "function execute(bytes,bytes[],uint256)"
_TO_SENDER: Final = "0x0000000000000000000000000000000000000001"
_TO_ROUTER: Final = "0x0000000000000000000000000000000000000002"
_ALL: Final = 1 << 255
_TRANSFER, _SWEEP, _WRAP, _UNWRAP, _V4_SWAP = 0x02, 0x04, 0x0B, 0x0C, 0x10
_SINGLES: Final = {0x06: False, 0x08: True}
_PATHS: Final = {0x07: False, 0x09: True}
_SETTLE, _SETTLE_ALL, _TAKE = 0x0B, 0x0C, 0x0E
_SINGLE_TYPE: Final = f"({KEY_TYPE},bool,uint128,uint128,bytes)"
_PATH_TYPE: Final = "(address,(address,uint24,int24,address,bytes)[],uint256[],uint128,uint128)"


@dataclass(slots=True)
class _Router:
    """What is known of one call while its commands are read: whose it is, what the router holds, what was traded.

    `held` are the currencies that may lie with the router, `coin` what was sent along and is not used yet. `paid` says
    by whom the swap is to be paid, `owed` and `due` are currencies that are still to be paid and to be taken.
    """

    account: str
    wrapped: str
    contracts: V4Contracts
    chain: ChainReader
    into: Effects
    coin: int
    held: set[str] = field(default_factory=set)
    taken: int = 0
    has_permit: bool = False
    has_traded: bool = False
    least: int = 0
    brings: str = ""

    def person(self, recipient: str) -> str:
        """Whom a recipient of the router's means. Raises UnknownCall for the router."""
        if recipient == _TO_ROUTER or recipient == self.contracts.router:
            raise UnknownCall("the Universal Router would keep what it is to pay out")
        return self.account if recipient == _TO_SENDER else recipient


def read_router(
    call: Call, *, account: str, wrapped: str, contracts: V4Contracts, chain: ChainReader, into: Effects
) -> None:
    """Add what `call` to the router does. Raises UnknownCall."""
    if not calls(call.data, _EXECUTE):
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the Universal Router is not known")
    commands, inputs, deadline = read_exactly(call.data, _EXECUTE)
    if len(commands) != len(inputs):
        raise UnknownCall("the Universal Router is given more commands than inputs, or less")
    router = _Router(account, wrapped, contracts, chain, into, call.value)
    for code, data in zip(commands, inputs, strict=True):
        _read_command(code, data, router)
    if router.coin:
        raise UnknownCall("the Universal Router is sent coin that no swap uses")
    if router.taken:
        raise UnknownCall("the Universal Router takes tokens that no swap uses")
    if not router.has_traded or router.brings:
        raise UnknownCall("the Universal Router would keep what a swap brings")
    if router.held:
        raise UnknownCall("the Universal Router would keep what a swap did not need")
    into.deadlines.append(deadline)


def _read_command(code: int, data: bytes, router: _Router) -> None:
    if is_permit(code):
        _read_permit(read_permit(code, data), router)
    elif code == _V4_SWAP:
        _read_trade(data, router)
    elif code in SWAP_COMMANDS:
        _read_older_trade(read_router_swap(code, data), router)
    elif code == _TRANSFER:
        token, recipient, amount = read_values(("address", "address", "uint160"), data)
        if token != router.wrapped or recipient != _TO_ROUTER or router.has_traded or router.held or not amount:
            raise UnknownCall("the Universal Router takes a token that it is not to unwrap for a swap")
        router.taken = amount
        router.held.add(router.wrapped)
    elif code == _WRAP:
        recipient, amount = read_values(("address", "uint256"), data)
        _read_wrap(recipient, amount, router)
    elif code == _UNWRAP:
        recipient, least = read_values(("address", "uint256"), data)
        _read_unwrap(recipient, least, router)
    elif code == _SWEEP:
        token, recipient, _ = read_values(("address", "address", "uint256"), data)
        if not router.has_traded or token not in router.held or token == router.brings:
            raise UnknownCall("the Universal Router sweeps what no swap left")
        router.into.recipients.append(router.person(recipient))
        router.held.discard(token)
    else:
        raise UnknownCall(f"command 0x{code:02x} of the Universal Router is not known")


def _read_permit(permit: InnerPermit, router: _Router) -> None:
    """What the account signed for the router, before everything else."""
    if router.has_permit or router.has_traded or router.taken or router.held:
        raise UnknownCall("the Universal Router is handed a permit twice, or after it began")
    router.has_permit = True
    check_inner(permit, account=router.account, carried_by=router.contracts.router, chain=router.chain)
    for each in permit.gives:
        router.into.approvals.append((each.token, permit.spender, each.amount))
    router.into.deadlines.append(permit.ends_at)


def _read_wrap(recipient: str, amount: int, router: _Router) -> None:
    if not router.has_traded:
        if recipient != _TO_ROUTER or amount != router.coin or router.held or not amount:
            raise UnknownCall("the Universal Router wraps other than all the coin it is sent for its swap")
        router.held.add(router.wrapped)
        return
    # All the coin it holds: what the swap brought, or what it did not need of what was unwrapped for it.
    if COIN not in router.held or amount != _ALL:
        raise UnknownCall("the Universal Router wraps what no swap left or brought, or a part of it")
    _pay_out(recipient, router, was=COIN, comes_as=router.wrapped, least=router.least)


def _read_unwrap(recipient: str, least: int, router: _Router) -> None:
    if not router.has_traded:
        if recipient != _TO_ROUTER or router.held != {router.wrapped} or not router.taken or least != router.taken:
            raise UnknownCall("the Universal Router unwraps what it did not take for its swap")
        router.held = {COIN}
        return
    if router.wrapped not in router.held:
        raise UnknownCall("the Universal Router unwraps what no swap left or brought")
    _pay_out(recipient, router, was=router.wrapped, comes_as=NATIVE, least=least)


def _pay_out(recipient: str, router: _Router, *, was: str, comes_as: str, least: int) -> None:
    person = router.person(recipient)
    router.into.recipients.append(person)
    router.held.discard(was)
    if router.brings == was:
        router.into.receives[comes_as] += least
        router.brings = ""


def _read_trade(data: bytes, router: _Router) -> None:
    actions, params = read_values(("bytes", "bytes[]"), data)
    if router.has_traded or len(actions) != 3 or len(params) != 3:
        raise UnknownCall("V4 is asked for other than one swap, its payment and its proceeds")
    keys, first, last, most, least = _read_swap(actions[0], params[0])
    router.has_traded, router.least = True, least
    _read_payment(actions[1], params[1], router, first=first, most=most)
    if actions[2] != _TAKE:
        raise UnknownCall(f"action 0x{actions[2]:02x} of V4 takes no proceeds")
    currency, recipient, amount = read_values(("address", "address", "uint256"), params[2])
    if currency != last or amount:
        raise UnknownCall("what is taken out of V4 is not all that the swap brings")
    if recipient == _TO_ROUTER:
        if last in router.held:
            raise UnknownCall("proceeds and what is left of the input would be one and the same")
        router.brings = last
        router.held.add(last)
    else:
        router.into.receives[NATIVE if last == COIN else last] += least
        router.into.recipients.append(router.person(recipient))
    _tell_pools(keys, first, router)


def _read_older_trade(swap: RouterSwap, router: _Router) -> None:
    """A swap in pools of V2 or V3: paid by the account, or with all the coin that was sent along and wrapped."""
    if router.has_traded or router.taken:
        raise UnknownCall("the Universal Router swaps twice, or takes what its swap does not need")
    router.has_traded, router.least = True, swap.least
    if swap.is_users:
        if router.held or router.coin:
            raise UnknownCall("the Universal Router holds what its swap does not use")
        router.into.spends[swap.sold] += swap.most
    else:
        if swap.sold != router.wrapped or router.held != {router.wrapped} or router.coin != swap.most:
            raise UnknownCall("the coin sent along is not exactly what the swap spends")
        router.into.spends[NATIVE] += swap.most
        router.coin = 0
        if not swap.is_exact_out:
            router.held.discard(router.wrapped)
    if swap.recipient == _TO_ROUTER:
        router.brings = swap.bought
        router.held.add(swap.bought)
    else:
        router.into.receives[swap.bought] += swap.least
        router.into.recipients.append(router.person(swap.recipient))
    router.into.markets.extend(swap.markets)


def _read_payment(action: int, data: bytes, router: _Router, *, first: str, most: int) -> None:
    """Who pays for the swap, and how much at most."""
    into, sent = router.into, router.coin
    if action == _SETTLE:
        currency, amount, is_users = read_values(("address", "uint256", "bool"), data)
        if currency != first or amount or is_users:
            raise UnknownCall("the swap is not paid by what the router holds for it")
        if router.taken:
            if first != COIN or router.taken != most:
                raise UnknownCall("what is taken for the swap is not exactly what it spends")
            into.spends[router.wrapped] += most
            router.taken = 0
        elif sent:
            if sent != most or first not in (COIN, router.wrapped) or (first == COIN) == bool(router.held):
                raise UnknownCall("the coin sent along is not exactly what the swap spends")
            into.spends[NATIVE] += most
            router.coin = 0
            router.held.add(first)
        else:
            raise UnknownCall("a swap spends whatever the Universal Router happens to hold")
        return
    if action != _SETTLE_ALL:
        raise UnknownCall(f"action 0x{action:02x} of V4 pays for no swap")
    currency, limit = read_values(("address", "uint256"), data)
    if currency != first or first == COIN or limit != most or router.held or sent:
        raise UnknownCall("what is paid for the swap is not what it spends")
    into.spends[first] += most


def _read_swap(action: int, data: bytes) -> tuple[Sequence[PoolKey], str, str, int, int]:
    """Pools in order, currency in, currency out, the most that goes in, the least that comes out."""
    if action in _SINGLES:
        ((words, forward, amount, limit, hook_data),) = read_values((_SINGLE_TYPE,), data)
        key = read_key(words)
        check_no_hook_data(hook_data)
        ends = (key.currency0, key.currency1) if forward else (key.currency1, key.currency0)
        amounts = (limit, amount) if _SINGLES[action] else (amount, limit)
        return (key,), *ends, *amounts
    if action not in _PATHS:
        raise UnknownCall(f"action 0x{action:02x} of V4 is no swap")
    ((exact, path, limits, amount, limit),) = read_values((_PATH_TYPE,), data)
    if limits or not path:
        raise UnknownCall("a path of V4 limits single pools, or has none")
    is_exact_out = _PATHS[action]
    keys, current = [], checksum(exact)
    for currency, fee, spacing, hooks, hook_data in reversed(path) if is_exact_out else path:
        check_no_hook_data(hook_data)
        beyond = checksum(currency)
        first, second = sorted((current, beyond), key=lambda each: int(each, 16))
        keys.append(PoolKey(first, second, fee, spacing, checksum(hooks)))
        current = beyond
    if is_exact_out:
        return tuple(reversed(keys)), current, checksum(exact), limit, amount
    return tuple(keys), checksum(exact), current, amount, limit


def _tell_pools(keys: Sequence[PoolKey], first: str, router: _Router) -> None:
    current = first
    for key in keys:
        beyond = key.currency1 if current == key.currency0 else key.currency0
        sold, bought = (router.wrapped if each == COIN else each for each in (current, beyond))
        name = PoolId(key.pool_id, router.contracts.manager)
        router.into.markets.append(MarketRead(NAME, sold, bought, pool=name))
        found = hooks_of(key)
        if found is not None:
            router.into.hooks.append(found)
        current = beyond
