"""What an account holds and has allowed, read in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.standards import erc20
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class Holding:
    """Base units of a token an account holds, and how many of them a spender may take."""

    token: TokenMeta
    balance: int
    allowance: int


def read_holdings(reader: ChainReader, account: str, tokens: Sequence[TokenMeta], *, spender: str) -> list[Holding]:
    """Balance and allowance of every token, in order; the chain's own coin needs no allowance.

    Raises ContractOutputUnexpected when a token does not tell them.
    """
    contracts = [token for token in tokens if not token.is_native]
    calls = [
        call
        for token in contracts
        for call in (
            erc20.balance_call(token.address, account),
            erc20.allowance_call(token.address, account, spender),
        )
    ]
    outcomes = iter(reader.call_many(calls)) if calls else iter(())
    found: list[Holding] = []
    for token in tokens:
        if token.is_native:
            balance = reader.native_balance(account)
            found.append(Holding(token, balance, balance))
            continue
        held, allowed = next(outcomes), next(outcomes)
        if not (held.ok and allowed.ok):
            raise ContractOutputUnexpected(
                f"{token.symbol or token.address} does not tell balances and allowances", address=token.address
            )
        found.append(Holding(token, held.values[0], allowed.values[0]))
    return found


def allowance_calls(account: str, tokens: Sequence[TokenMeta], *, spenders: Sequence[str]) -> list[ReadCall]:
    """What each of `spenders` may take of each token; nothing is asked for the chain's own coin."""
    contracts = [token.address for token in tokens if not token.is_native]
    return [erc20.allowance_call(token, account, spender) for token in contracts for spender in spenders]
