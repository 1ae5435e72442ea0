"""Reads calldata back into money: what each call takes at most, brings at least, to whom and until when.

Every call is read by the protocol that owns the contract; coins, tokens and the wrapped coin are read here. Nobody asks
the tools that built the calls. Whatever is not known exactly raises UnknownCall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.chains import get_deployment
from tools_app.chain.tokens import TokenNotFound
from tools_app.standards import loan_callback
from tools_app.standards.calldata import calls as is_call
from tools_app.standards.calldata import read_exactly
from tools_app.standards.signed_order_tracking import find_reader
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ClaimReader, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import NATIVE

_APPROVE: Final = "function approve(address,uint256)"
_TRANSFER: Final = "function transfer(address,uint256)"
_DEPOSIT: Final = "function deposit()"
_WITHDRAW: Final = "function withdraw(uint256)"


def read_calls(calls: Sequence[Call], *, account: str, chain: ChainReader) -> Effects:
    """Everything `calls` do for `account`, within a loan too. Raises UnknownCall on any byte not accounted for."""
    effects, calls = Effects(), loan_callback.unfold(calls)
    read_on(calls, 0, account=account, chain=chain, into=effects)
    tell_claims(effects, chain)
    return effects


def read_on(calls: Sequence[Call], begin: int, *, account: str, chain: ChainReader, into: Effects) -> None:
    """Add what the unfolded `calls` do from the one at `begin` on, given that `into` has what those before it do.

    Raises UnknownCall.
    """
    effects = into
    for index, call in enumerate(calls[begin:], start=begin):
        owner = SHELF.of_contract(chain.chain_id, call.to)
        if not call.data:
            _pay(effects, NATIVE, call.value, call.to)
        elif owner is None and is_call(call.data, loan_callback.ANNOUNCE):
            loan_callback.check_announcement(call, account=account, chain=chain)
        elif owner is None:
            _read_token(call, get_deployment(chain.chain_id).wrapped_native, effects)
        elif owner.effects is None:
            raise UnknownCall(f"nobody here reads the calls of {owner.label}")
        else:
            try:
                owner.effects.read(call, earlier=calls[:index], account=account, chain=chain, into=effects)
            except UnknownCall:
                # A protocol's own token is a token too.
                if not _is_of_token(call, chain):
                    raise
                _read_token(call, None, effects)


def read_promise(typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
    """What comes of typed data that `account` signs. Raises UnknownCall for what nobody here reads."""
    owner = find_reader(typed)
    if owner is None or owner.promises is None or typed.chain_id != chain.chain_id:
        raise UnknownCall(f"nobody here reads what is signed for {typed.contract} on chain {typed.chain_id}")
    owner.promises.read(typed, account=account, chain=chain, into=into)


def _is_of_token(call: Call, chain: ChainReader) -> bool:
    if not (is_call(call.data, _APPROVE) or is_call(call.data, _TRANSFER)):
        return False
    try:
        chain.token(call.to)
    except TokenNotFound:
        return False
    return True


def tell_claims(effects: Effects, chain: ChainReader) -> None:
    """A token that stands for a position and moves through another protocol's call (a trade) is a change of it."""
    for moved, sign in ((effects.spends, -1), (effects.receives, 1)):
        for token, raw in list(moved.items()):
            owner = SHELF.of_contract(chain.chain_id, token)
            if owner is None or not isinstance(owner.effects, ClaimReader) or not raw:
                continue
            change = owner.effects.read_claim(token, sign * raw, chain=chain)
            if change is not None:
                effects.changes.append(change)
                del moved[token]


def _read_token(call: Call, wrapped_native: str | None, effects: Effects) -> None:
    if call.to == wrapped_native and is_call(call.data, _DEPOSIT):
        read_exactly(call.data, _DEPOSIT)
        effects.spends[NATIVE] += call.value
        effects.receives[call.to] += call.value
        return
    if call.value:
        raise UnknownCall(f"{call.to} is sent coin along with a call it is not known to take it for")
    if is_call(call.data, _APPROVE):
        spender, amount = read_exactly(call.data, _APPROVE)
        effects.approvals.append((call.to, spender, amount))
    elif is_call(call.data, _TRANSFER):
        recipient, amount = read_exactly(call.data, _TRANSFER)
        _pay(effects, call.to, amount, recipient)
    elif call.to == wrapped_native and is_call(call.data, _WITHDRAW):
        (amount,) = read_exactly(call.data, _WITHDRAW)
        effects.spends[call.to] += amount
        effects.receives[NATIVE] += amount
    else:
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _pay(effects: Effects, token: str, amount: int, recipient: str) -> None:
    effects.spends[token] += amount
    effects.recipients.append(recipient)
    effects.paid_plainly.append(recipient)
