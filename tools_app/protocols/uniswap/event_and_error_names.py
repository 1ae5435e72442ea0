"""Names for what Uniswap's contracts tell and revert with; a name is for people and decides nothing."""

from __future__ import annotations

from typing import Final

EVENTS: Final[tuple[str, ...]] = (
    # V2
    "event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out,"
    " address indexed to)",
    "event Sync(uint112 reserve0, uint112 reserve1)",
    "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
    "event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)",
    # V3
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
    # V4
    "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,"
    " uint128 liquidity, int24 tick, uint24 fee)",
    "event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,"
    " int256 liquidityDelta, bytes32 salt)",
    # The staker, and a list of claims
    "event IncentiveCreated(address indexed rewardToken, address indexed pool, uint256 startTime, uint256 endTime,"
    " address refundee, uint256 reward)",
    "event IncentiveEnded(bytes32 indexed incentiveId, uint256 refund)",
    "event DepositTransferred(uint256 indexed tokenId, address indexed oldOwner, address indexed newOwner)",
    "event TokenStaked(uint256 indexed tokenId, bytes32 indexed incentiveId, uint128 liquidity)",
    "event TokenUnstaked(uint256 indexed tokenId, bytes32 indexed incentiveId)",
    "event RewardClaimed(address indexed to, uint256 reward)",
    "event Claimed(uint256 index, address account, uint256 amount)",
)

ERRORS: Final[tuple[str, ...]] = (
    # V4 and the Universal Router
    "error V3TooLittleReceived()",
    "error V3TooMuchRequested()",
    "error V2TooLittleReceived()",
    "error V4TooLittleReceived(uint256 minAmountOutReceived, uint256 amountReceived)",
    "error V4TooMuchRequested(uint256 maxAmountInRequested, uint256 amountRequested)",
    "error TransactionDeadlinePassed()",
    "error ExecutionFailed(uint256 commandIndex, bytes message)",
)

INNER_CALLS: Final[tuple[str, ...]] = (
    "function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)",
    "function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)",
    "function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes data)",
    "function uniswapV3MintCallback(uint256 amount0Owed, uint256 amount1Owed, bytes data)",
    "function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes data)",
    "function mint(address to)",
    "function burn(address to)",
    "function burn(int24 tickLower, int24 tickUpper, uint128 amount)",
    "function collect(address recipient, int24 tickLower, int24 tickUpper, uint128 amount0, uint128 amount1)",
    "function positions(bytes32 key) view",
    "function getReserves() view",
    "function slot0() view",
    "function getPair(address token0, address token1) view",
    "function getPool(address token0, address token1, uint24 feeTier) view",
    "function sync()",
    "function skim(address to)",
    "function unlock(bytes data)",
    "function unlockCallback(bytes data)",
    "function settle() payable",
)
