"""Wrapping the chain's coin into its token and back, one to one."""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import TokenMeta

DEPOSIT_EVENT: Final = "event Deposit(address indexed account, uint256 amount)"
_DEPOSIT: Final = "function deposit() payable"
_WITHDRAW: Final = "function withdraw(uint256 amount)"


def wrap(*, wrapped: TokenMeta, amount: int) -> Call:
    """Coin into token: `amount` wei."""
    return Call(wrapped.address, encode_call(_DEPOSIT), amount, f"Wrap {format_units(amount, wrapped.decimals)}")


def unwrap(*, wrapped: TokenMeta, amount: int) -> Call:
    """Token back into coin: `amount` wei."""
    shown = format_units(amount, wrapped.decimals, wrapped.symbol)
    return Call(wrapped.address, encode_call(_WITHDRAW, amount), 0, f"Unwrap {shown}")
