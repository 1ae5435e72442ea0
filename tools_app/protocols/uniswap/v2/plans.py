"""Calls of Router02: swaps of exact input or output, with the chain's coin on either side.

A token that takes a fee on transfer uses the router's variants that measure what really arrives.
"""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

TOKENS_IN = "function swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
COIN_IN = "function swapExactETHForTokens(uint256,address[],address,uint256)"
COIN_OUT = "function swapExactTokensForETH(uint256,uint256,address[],address,uint256)"
TOKENS_IN_FEE = (
    "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)"
)
COIN_IN_FEE = "function swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)"
COIN_OUT_FEE = "function swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)"
TOKENS_OUT = "function swapTokensForExactTokens(uint256,uint256,address[],address,uint256)"
COIN_FOR_EXACT = "function swapETHForExactTokens(uint256,address[],address,uint256)"
EXACT_COIN = "function swapTokensForExactETH(uint256,uint256,address[],address,uint256)"
REMOVE = "function removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)"


def swap_exact_in(
    *,
    router: str,
    path: Sequence[str],
    amount_in: int,
    minimum_out: int,
    recipient: str,
    deadline: int,
    coin_in: bool,
    coin_out: bool,
    has_transfer_fee: bool,
    label: str,
) -> Call:
    """Spend exactly `amount_in`, receive at least `minimum_out` before `deadline` (Unix seconds)."""
    if coin_in:
        signature = COIN_IN_FEE if has_transfer_fee else COIN_IN
        data = encode_call(signature, minimum_out, list(path), recipient, deadline)
        return Call(to=router, data=data, value=amount_in, label=label)
    if coin_out:
        signature = COIN_OUT_FEE if has_transfer_fee else COIN_OUT
    else:
        signature = TOKENS_IN_FEE if has_transfer_fee else TOKENS_IN
    data = encode_call(signature, amount_in, minimum_out, list(path), recipient, deadline)
    return Call(to=router, data=data, value=0, label=label)


def swap_exact_out(
    *,
    router: str,
    path: Sequence[str],
    amount_out: int,
    maximum_in: int,
    recipient: str,
    deadline: int,
    coin_in: bool,
    coin_out: bool,
    label: str,
) -> Call:
    """Receive exactly `amount_out`, spend at most `maximum_in`; the router returns coin that was not needed."""
    if coin_in:
        data = encode_call(COIN_FOR_EXACT, amount_out, list(path), recipient, deadline)
        return Call(to=router, data=data, value=maximum_in, label=label)
    signature = EXACT_COIN if coin_out else TOKENS_OUT
    data = encode_call(signature, amount_out, maximum_in, list(path), recipient, deadline)
    return Call(to=router, data=data, value=0, label=label)


def remove_shares(
    *,
    router: str,
    tokens: tuple[str, str],
    shares: int,
    least0: int,
    least1: int,
    recipient: str,
    deadline: int,
    label: str,
) -> Call:
    """Give `shares` of a pair back for both of its tokens, at least so many of each before `deadline`."""
    data = encode_call(REMOVE, *tokens, shares, least0, least1, recipient, deadline)
    return Call(to=router, data=data, value=0, label=label)
