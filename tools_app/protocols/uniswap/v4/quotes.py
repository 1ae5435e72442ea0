"""What V4's quoter is asked for a path: its answer is exact, because it runs the swap with its hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.uniswap.v4.addresses import V4Contracts
from tools_app.protocols.uniswap.v4.keys import COIN, PoolKey
from tools_app.protocols.uniswap.v4.plans import Step, path_keys
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.markets import Pool

_KEY: Final = "(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)"
_SINGLE: Final = f"({_KEY} poolKey, bool zeroForOne, uint128 exactAmount, bytes hookData)"
_PATH_KEY: Final = "(address intermediateCurrency, uint24 fee, int24 tickSpacing, address hooks, bytes hookData)"
_PATH: Final = f"(address exactCurrency, {_PATH_KEY}[] path, uint128 exactAmount)"
IN_SINGLE: Final = f"function quoteExactInputSingle({_SINGLE} params) returns (uint256 amountOut, uint256 gasEstimate)"
IN_PATH: Final = f"function quoteExactInput({_PATH} params) returns (uint256 amountOut, uint256 gasEstimate)"
OUT_SINGLE: Final = f"function quoteExactOutputSingle({_SINGLE} params) returns (uint256 amountIn, uint256 gasEstimate)"
OUT_PATH: Final = f"function quoteExactOutput({_PATH} params) returns (uint256 amountIn, uint256 gasEstimate)"


def list_steps(pools: Sequence[tuple[Pool, str]], wrapped: str) -> tuple[Step, ...] | None:
    """The pools of a path, each with the token that goes in, in V4's own currencies; None where two of them do not
    meet in one currency: the coin and its wrapped form are two.
    """
    steps = []
    for pool, token_in in pools:
        key = PoolKey(*pool.key)
        is_coin = token_in == wrapped and key.currency0 == COIN
        steps.append(Step(key, COIN if is_coin else token_in))
    meets = all(one.currency_out == two.currency_in for one, two in zip(steps, steps[1:], strict=False))
    return tuple(steps) if meets else None


def quote_call(contracts: V4Contracts, steps: Sequence[Step], amount: int, *, is_exact_out: bool) -> ReadCall:
    """The question to the quoter: amount and gas are its first two values."""
    if len(steps) == 1:
        signature = OUT_SINGLE if is_exact_out else IN_SINGLE
        return ReadCall(contracts.quoter, signature, ((steps[0].key.as_tuple, steps[0].forward, amount, b""),))
    exact = steps[-1].currency_out if is_exact_out else steps[0].currency_in
    signature = OUT_PATH if is_exact_out else IN_PATH
    return ReadCall(contracts.quoter, signature, ((exact, path_keys(steps, is_exact_out=is_exact_out), amount),))
