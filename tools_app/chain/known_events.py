"""Events this product can name in a call tree; a name is a label for people and decides nothing.

Data only, beside the errors; a protocol's own events are added here, so that the list can be read in one place.
"""

from __future__ import annotations

from typing import Final

KNOWN_EVENTS: Final[tuple[str, ...]] = (
    # Tokens
    "event Transfer(address indexed from, address indexed to, uint256 value)",
    "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
    "event Approval(address indexed owner, address indexed spender, uint256 value)",
    "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
    "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
    "event Deposit(address indexed account, uint256 amount)",
    "event Withdrawal(address indexed account, uint256 amount)",
    # Permit2
    "event Approval(address indexed owner, address indexed token, address indexed spender, uint160 amount,"
    " uint48 expiration)",
    "event Permit(address indexed owner, address indexed token, address indexed spender, uint160 amount,"
    " uint48 expiration, uint48 nonce)",
    # Uniswap V2
    "event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out,"
    " address indexed to)",
    "event Sync(uint112 reserve0, uint112 reserve1)",
    "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
    "event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)",
    # Uniswap V3
    "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,"
    " uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
    "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,"
    " uint128 amount, uint256 amount0, uint256 amount1)",
    "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount,"
    " uint256 amount0, uint256 amount1)",
    "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper,"
    " uint128 amount0, uint128 amount1)",
    "event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
    "event DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
    # Uniswap V4
    "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,"
    " uint128 liquidity, int24 tick, uint24 fee)",
    "event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,"
    " int256 liquidityDelta, bytes32 salt)",
)
