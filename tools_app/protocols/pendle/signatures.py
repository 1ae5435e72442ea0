"""The router's functions that plans call, and the parts of them that are always the same.

No exchange beside the market is gone through and nobody's limit order is filled: an order that is spent or cancelled is
passed over by the router without a word, so what comes out is bounded instead.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.context import AbiValues

GUESS: Final = "(uint256 guessMin, uint256 guessMax, uint256 guessOffchain, uint256 maxIteration, uint256 eps)"
SWAP: Final = "(uint8 swapType, address extRouter, bytes extCalldata, bool needScale)"
INPUT: Final = f"(address tokenIn, uint256 netTokenIn, address tokenMintSy, address pendleSwap, {SWAP} swapData)"
OUTPUT: Final = f"(address tokenOut, uint256 minTokenOut, address tokenRedeemSy, address pendleSwap, {SWAP} swapData)"
ORDER: Final = (
    "(uint256 salt, uint256 expiry, uint256 nonce, uint8 orderType, address token, address YT, address maker,"
    " address receiver, uint256 makingAmount, uint256 lnImpliedRate, uint256 failSafeRate, bytes permit)"
)
FILL: Final = f"({ORDER} order, bytes signature, uint256 makingAmount)"
LIMIT: Final = f"(address limitRouter, uint256 epsSkipMarket, {FILL}[] normalFills, {FILL}[] flashFills, bytes optData)"
CANCEL_ORDER: Final = f"function cancelSingle({ORDER} order)"
BUY_PT: Final = (
    f"function swapExactTokenForPt(address receiver, address market, uint256 minPtOut, {GUESS} guessPtOut,"
    f" {INPUT} input, {LIMIT} limit)"
)
SELL_PT: Final = (
    f"function swapExactPtForToken(address receiver, address market, uint256 exactPtIn, {OUTPUT} output, {LIMIT} limit)"
)
BUY_YT: Final = (
    f"function swapExactTokenForYt(address receiver, address market, uint256 minYtOut, {GUESS} guessYtOut,"
    f" {INPUT} input, {LIMIT} limit)"
)
SELL_YT: Final = (
    f"function swapExactYtForToken(address receiver, address market, uint256 exactYtIn, {OUTPUT} output, {LIMIT} limit)"
)
ADD_LP: Final = (
    f"function addLiquiditySingleToken(address receiver, address market, uint256 minLpOut,"
    f" {GUESS} guessPtReceivedFromSy, {INPUT} input, {LIMIT} limit)"
)
REMOVE_LP: Final = (
    f"function removeLiquidityDualTokenAndPt(address receiver, address market, uint256 netLpToRemove,"
    f" {OUTPUT} output, uint256 minPtOut)"
)
REDEEM: Final = f"function redeemPyToToken(address receiver, address YT, uint256 netPyIn, {OUTPUT} output)"
CLAIM: Final = "function redeemDueInterestAndRewards(address user, address[] sys, address[] yts, address[] markets)"
REDEEM_SHARES: Final = (
    "function redeem(address receiver, uint256 amountSharesToRedeem, address tokenOut, uint256 minTokenOut,"
    " bool burnFromInternalBalance)"
)
NOBODY: Final = "0x0000000000000000000000000000000000000000"
NO_SWAP: Final = (0, NOBODY, b"", False)
NO_LIMIT: Final[AbiValues] = (NOBODY, 0, (), (), b"")
ANY_GUESS: Final = (0, 2**256 - 1, 0, 256, 10**14)
"""The router looks for the amount itself, and stops within a basis point of what it could be."""


def paying(token: str, amount: int) -> tuple[object, ...]:
    """An input: a token that the yield takes as it is."""
    return (token, amount, token, NOBODY, NO_SWAP)


def taking(token: str, least: int) -> tuple[object, ...]:
    """An output: a token that the yield gives as it is, at least so much."""
    return (token, least, token, NOBODY, NO_SWAP)
