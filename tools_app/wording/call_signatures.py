"""Signatures with argument names, for showing call data to people: the selector decides, a name is only a label."""

from __future__ import annotations

from typing import Final

from tools_app.standards.deadline_contract import MUST_BE_BEFORE

_SWAPPED = "address recipient, uint256 amountIn, uint256 amountOutMinimum"
_BOUGHT = "address recipient, uint256 amountOut, uint256 amountInMaximum"
ROUTER_COMMANDS: Final = {
    0x00: f"function v3SwapExactIn({_SWAPPED}, bytes path, bool payerIsUser)",
    0x01: f"function v3SwapExactOut({_BOUGHT}, bytes reversePath, bool payerIsUser)",
    0x02: "function permit2TransferFrom(address token, address recipient, uint160 amount)",
    0x03: "function permit2PermitBatch(((address token, uint160 amount, uint48 expiration, uint48 nonce)[] details,"
    " address spender, uint256 deadline) permit, bytes signature)",
    0x04: "function sweep(address token, address recipient, uint256 amountMinimum)",
    0x05: "function transfer(address token, address recipient, uint256 amount)",
    0x06: "function payPortion(address token, address recipient, uint256 bips)",
    0x08: f"function v2SwapExactIn({_SWAPPED}, address[] path, bool payerIsUser)",
    0x09: f"function v2SwapExactOut({_BOUGHT}, address[] path, bool payerIsUser)",
    0x0A: "function permit2Permit(((address token, uint160 amount, uint48 expiration, uint48 nonce) details,"
    " address spender, uint256 deadline) permit, bytes signature)",
    0x0B: "function wrapETH(address recipient, uint256 amountWei)",
    0x0C: "function unwrapWETH(address recipient, uint256 amountWeiMinimum)",
    0x10: "function v4Swap(bytes actions, bytes[] params)",
}
"""What the Universal Router does for one byte of its commands, its input written as a function's parameters."""

_ALONG = "address[] path, address recipient, uint256 deadline"

NAMED_SIGNATURES: Final = (
    MUST_BE_BEFORE,
    "function approve(address spender, uint256 amount)",
    "function transfer(address recipient, uint256 amount)",
    "function transferFrom(address owner, address recipient, uint256 amount)",
    "function deposit() payable",
    "function withdraw(uint256 amountWei)",
    f"function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, {_ALONG})",
    f"function swapExactETHForTokens(uint256 amountOutMin, {_ALONG}) payable",
    f"function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, {_ALONG})",
    f"function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, {_ALONG})",
    f"function swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, {_ALONG}) payable",
    f"function swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, {_ALONG})",
    f"function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, {_ALONG})",
    f"function swapETHForExactTokens(uint256 amountOut, {_ALONG}) payable",
    f"function swapTokensForExactETH(uint256 amountOut, uint256 amountInMax, {_ALONG})",
    "function addLiquidity(address token0, address token1, uint256 amount0Desired, uint256 amount1Desired, "
    "uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)",
    "function addLiquidityETH(address token0, uint256 amount0Desired, uint256 amount0Min, uint256 "
    "amountWeiMin, address recipient, uint256 deadline) payable",
    "function removeLiquidity(address token0, address token1, uint256 liquidity, uint256 amount0Min, "
    "uint256 amount1Min, address recipient, uint256 deadline)",
    "function removeLiquidityETH(address token0, uint256 liquidity, uint256 amount0Min, uint256 "
    "amountWeiMin, address recipient, uint256 deadline)",
    "function multicall(uint256 deadline, bytes[] calls) payable",
    "function multicall(bytes[] calls) payable",
    "function exactInputSingle((address tokenIn, address tokenOut, uint24 feeTier, address recipient, "
    "uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) swap) payable",
    "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) swap) payable",
    "function exactOutputSingle((address tokenIn, address tokenOut, uint24 feeTier, address recipient, "
    "uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) swap) payable",
    "function exactOutput((bytes reversePath, address recipient, uint256 amountOut, uint256 "
    "amountInMaximum) swap) payable",
    "function unwrapWETH9(uint256 amountWeiMinimum, address recipient) payable",
    "function refundETH() payable",
    "function sweepToken(address token, uint256 amountMinimum, address recipient) payable",
    "function mint((address token0, address token1, uint24 feeTier, int24 tickLower, int24 tickUpper, "
    "uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address "
    "recipient, uint256 deadline) position) payable",
    "function increaseLiquidity((uint256 positionId, uint256 amount0Desired, uint256 amount1Desired, "
    "uint256 amount0Min, uint256 amount1Min, uint256 deadline) position) payable",
    "function decreaseLiquidity((uint256 positionId, uint128 liquidity, uint256 amount0Min, uint256 "
    "amount1Min, uint256 deadline) position) payable",
    "function collect((uint256 positionId, address recipient, uint128 amount0Max, uint128 amount1Max) "
    "position) payable",
    "function burn(uint256 positionId) payable",
    "function approve(address token, address spender, uint160 amount, uint48 expiration)",
    "function execute(bytes commands, bytes[] inputs, uint256 deadline) payable",
    "function execute(bytes commands, bytes[] inputs) payable",
    *ROUTER_COMMANDS.values(),
)
