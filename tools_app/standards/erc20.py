"""ERC-20: exact approvals, transfers, and reads that also understand the chain's own coin.

Outputs of `approve` and `transfer` are never decoded, because old tokens return nothing; what a token did is seen in
balances and logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.chain.abi_records import AbiEvent
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.core.units import format_units
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import TokenMeta

BALANCE_OF: Final = "function balanceOf(address account) view returns (uint256)"
ALLOWANCE: Final = "function allowance(address owner, address spender) view returns (uint256)"
TOTAL_SUPPLY: Final = "function totalSupply() view returns (uint256)"
TRANSFER_EVENT: Final = "event Transfer(address indexed from, address indexed to, uint256 value)"
APPROVAL_EVENT: Final = "event Approval(address indexed owner, address indexed spender, uint256 value)"
APPROVE: Final = "function approve(address spender, uint256 amount)"
_TRANSFER: Final = "function transfer(address to, uint256 amount)"


@dataclass(frozen=True, slots=True)
class TokenTransfer:
    """A movement of `value` base units, as a token's log tells it."""

    from_: str
    to: str
    value: int


MOVED: Final = AbiEvent(TRANSFER_EVENT, TokenTransfer)


def approve_exact(*, token: TokenMeta, spender: str, amount: int) -> Call:
    """Let `spender` take exactly `amount` base units. Raises ValueError for the coin, which knows no allowances."""
    _check_contract(token)
    shown = format_units(amount, token.decimals, token.symbol)
    return Call(token.address, encode_call(APPROVE, spender, amount), 0, f"Approve {shown} for {spender}")


def revoke(*, token: TokenMeta, spender: str) -> Call:
    """Take back whatever `spender` may still take."""
    _check_contract(token)
    return Call(token.address, encode_call(APPROVE, spender, 0), 0, f"Revoke {token.symbol} from {spender}")


def approvals_for(*, token: TokenMeta, spender: str, amount: int, allowance: int) -> tuple[Call, ...]:
    """The calls that make the allowance exactly `amount`, given that it is `allowance` now; none when it is already.

    A standing allowance is set to zero first, since some tokens refuse to go from one amount to another.
    """
    if token.is_native or allowance == amount:
        return ()
    approve = approve_exact(token=token, spender=spender, amount=amount)
    return (approve,) if allowance == 0 or amount == 0 else (revoke(token=token, spender=spender), approve)


def transfer(*, token: TokenMeta, recipient: str, amount: int) -> Call:
    """Send `amount` base units; the coin goes as the call's value. A token with a fee delivers less than it takes."""
    label = f"Send {format_units(amount, token.decimals, token.symbol)} to {recipient}"
    if token.is_native:
        return Call(recipient, b"", amount, label)
    return Call(token.address, encode_call(_TRANSFER, recipient, amount), 0, label)


def balance_call(token: str, account: str) -> ReadCall:
    return ReadCall(token, BALANCE_OF, (account,))


def allowance_call(token: str, owner: str, spender: str) -> ReadCall:
    return ReadCall(token, ALLOWANCE, (owner, spender))


def balance_of(reader: ChainReader, token: TokenMeta, account: str) -> int:
    """Base units held. Raises CallReverted, ContractOutputUnexpected."""
    return balances_of(reader, [(token, account)])[0]


def balances_of(reader: ChainReader, pairs: Sequence[tuple[TokenMeta, str]]) -> list[int]:
    """Base units of each (token, account), tokens in one batch. Raises ContractOutputUnexpected naming the token."""
    tokens = [(token, account) for token, account in pairs if not token.is_native]
    outcomes = iter(reader.call_many([balance_call(token.address, account) for token, account in tokens]))
    found: list[int] = []
    for token, account in pairs:
        if token.is_native:
            found.append(reader.native_balance(account))
            continue
        outcome = next(outcomes)
        if not outcome.ok:
            raise ContractOutputUnexpected(
                f"{token.symbol or token.address} does not tell balances: {outcome.revert_reason}",
                address=token.address,
            )
        found.append(int(outcome.values[0]))
    return found


def allowance(reader: ChainReader, token: TokenMeta, owner: str, spender: str) -> int:
    """Base units `spender` may take of `owner`; zero for the coin."""
    return 0 if token.is_native else int(reader.call(token.address, ALLOWANCE, owner, spender)[0])


def _check_contract(token: TokenMeta) -> None:
    if token.is_native:
        raise ValueError(f"{token.symbol} is the chain's own coin and has no allowances")
