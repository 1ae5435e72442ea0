"""What an account holds and has allowed, read in one batch, and the exact approvals a plan still needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.protocols.uniswap.errors import InsufficientBalance
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import AllowanceLeft, Call
from tools_app.toolkit.views import TokenMeta

BALANCE_OF = "function balanceOf(address) view returns (uint256)"
ALLOWANCE = "function allowance(address,address) view returns (uint256)"
APPROVE = "function approve(address,uint256)"


@dataclass(frozen=True, slots=True)
class Holding:
    """Base units of a token an account holds, and how many of them a spender may take."""

    token: TokenMeta
    balance: int
    allowance: int


def read_holdings(reader: ChainReader, account: str, tokens: Sequence[TokenMeta], *, spender: str) -> list[Holding]:
    """Balance and allowance of every token, in order; the chain's own coin needs no allowance."""
    calls = [
        call
        for token in tokens
        if not token.is_native
        for call in (
            ReadCall(token.address, BALANCE_OF, (account,)),
            ReadCall(token.address, ALLOWANCE, (account, spender)),
        )
    ]
    outcomes = iter(reader.call_many(calls)) if calls else iter(())
    found: list[Holding] = []
    for token in tokens:
        if token.is_native:
            balance = reader.native_balance(account)
            found.append(Holding(token, balance, balance))
            continue
        balance_read, allowance_read = next(outcomes), next(outcomes)
        found.append(
            Holding(
                token,
                balance_read.values[0] if balance_read.ok else 0,
                allowance_read.values[0] if allowance_read.ok else 0,
            )
        )
    return found


def check_balance(holding: Holding, needed: int) -> None:
    """Raises InsufficientBalance with both figures in base units and in units."""
    if holding.balance >= needed:
        return
    token = holding.token
    raise InsufficientBalance(
        f"this needs {format_units(needed, token.decimals, token.symbol)} and the account holds "
        f"{format_units(holding.balance, token.decimals, token.symbol)}",
        token=token.address,
        needed=str(needed),
        available=str(holding.balance),
    )


def approve_calls(holding: Holding, *, spender: str, needed: int) -> tuple[Call, ...]:
    """Approve exactly `needed` when less is allowed; a smaller allowance is zeroed first, as some tokens ask."""
    token = holding.token
    if token.is_native or holding.allowance >= needed:
        return ()
    calls = [approve(token, spender=spender, amount=needed)]
    if holding.allowance > 0:
        calls.insert(0, approve(token, spender=spender, amount=0))
    return tuple(calls)


def approve(token: TokenMeta, *, spender: str, amount: int) -> Call:
    """Set an allowance to `amount` base units."""
    shown = format_units(amount, token.decimals, token.symbol)
    label = f"Allow {spender} to take {shown}" if amount else f"Take back the allowance of {spender} on {token.symbol}"
    return Call(to=token.address, data=encode_call(APPROVE, spender, amount), value=0, label=label)


def allowance_after(holding: Holding, *, spender: str, granted: int, spent: int) -> AllowanceLeft:
    """The allowance a plan granted, and what is left of it once `spent` was taken."""
    return AllowanceLeft(token=holding.token, spender=spender, granted=granted, left=max(0, granted - spent))
