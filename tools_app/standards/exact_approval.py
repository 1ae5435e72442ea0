"""Tokens that a contract takes by allowance: exactly what it needs is approved, and nothing of it is left.

Where what is taken grows until the transaction runs (a debt with its interest), the most is approved and the rest
taken back in the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.core.errors import InsufficientBalance
from tools_app.core.units import format_units
from tools_app.standards import erc20
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class Spending:
    """The calls around the one that takes the tokens, and what the plan promises of them."""

    approvals: tuple[Call, ...]
    afterwards: tuple[Call, ...]
    flow: TokenFlow
    allowance: AllowanceLeft


def plan_spending(
    reader: ChainReader, *, account: str, token: TokenMeta, spender: str, expected: int, most: int | None = None
) -> Spending:
    """Let `spender` take `expected` base units, and up to `most` where that may be more and is held.

    Raises InsufficientBalance with both figures, ContractOutputUnexpected for a token that does not tell them.
    """
    held, allowed = reader.call_many(
        [erc20.balance_call(token.address, account), erc20.allowance_call(token.address, account, spender)]
    )
    if not (held.ok and allowed.ok):
        raise ContractOutputUnexpected(
            f"{token.symbol or token.address} does not tell balances and allowances", address=token.address
        )
    balance = int(held.values[0])
    if balance < expected:
        raise InsufficientBalance(
            f"this needs {format_units(expected, token.decimals, token.symbol)} and the account holds "
            f"{format_units(balance, token.decimals, token.symbol)}",
            token=token.address,
            needed=str(expected),
            available=str(balance),
        )
    bound = min(most, balance) if most is not None else expected
    approvals = erc20.approvals_for(token=token, spender=spender, amount=bound, allowance=int(allowed.values[0]))
    return Spending(
        approvals=approvals,
        afterwards=(erc20.revoke(token=token, spender=spender),) if bound > expected else (),
        flow=TokenFlow(token, expected=expected, bound=bound),
        allowance=AllowanceLeft(token=token, spender=spender, granted=bound, left=0),
    )
