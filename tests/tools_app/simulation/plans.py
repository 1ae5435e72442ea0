"""What the engines are compared on: actions of the local world, as lists of calls."""

from __future__ import annotations

from collections.abc import Callable

from tests.evm.world import World
from tools_app.chain.abi import encode_call
from tools_app.chain.networks import MULTICALL3
from tools_app.chain.reader import PinnedReader
from tools_app.standards import erc20, permit2, weth
from tools_app.toolkit.plan import Call

V3_SWAP = (
    "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn,"
    " uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountOut)"
)
V2_SWAP = (
    "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin,"
    " address[] path, address to, uint256 deadline)"
)
MINT = (
    "function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper,"
    " uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient,"
    " uint256 deadline) params) payable"
    " returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)"
)
PERMIT2_TRANSFER = "function transferFrom(address from, address to, uint160 amount, address token)"
AGGREGATE = (
    "function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)"
    " payable returns ((bool success, bytes returnData)[] results)"
)
FAR = 2**40

Plan = Callable[[PinnedReader, World, str], tuple[Call, ...]]


def v3_swap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    usdc, wrapped = reader.token("USDC"), reader.token("WETH")
    router = chain.contracts["uniswap_v3_swap_router_02"]
    amount = 1_000 * 10**6
    data = encode_call(V3_SWAP, (usdc.address, wrapped.address, 500, me, amount, 1, 0))
    return erc20.approve_exact(token=usdc, spender=router, amount=amount), Call(router, data, 0, "swap")


def v3_swap_of_the_coin(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    router = chain.contracts["uniswap_v3_swap_router_02"]
    wrapped, usdc, amount = reader.token("WETH"), reader.token("USDC"), 10**17
    data = encode_call(V3_SWAP, (wrapped.address, usdc.address, 3000, me, amount, 1, 0))
    return (Call(router, data, amount, "swap"),)


def v2_swap(reader: PinnedReader, chain: World, me: str, symbol: str = "USDC") -> tuple[Call, ...]:
    token, wrapped = reader.token(symbol), reader.token("WETH")
    router = chain.contracts["uniswap_v2_router"]
    amount = 100 * 10**token.decimals
    data = encode_call(V2_SWAP, amount, 1, [token.address, wrapped.address], me, FAR)
    return erc20.approve_exact(token=token, spender=router, amount=amount), Call(router, data, 0, "swap")


def fee_token_swap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return v2_swap(reader, chain, me, "FEE")


def no_return_swap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return v2_swap(reader, chain, me, "USDT")


def lp_mint(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    manager = chain.contracts["uniswap_v3_position_manager"]
    pool = chain.pool("v3", "USDC", "DAI", 100)
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    amounts = [500 * 10**token.decimals for token in (token0, token1)]
    params = (token0.address, token1.address, 100, -887_272, 887_272, *amounts, 0, 0, me, FAR)
    approvals = [
        erc20.approve_exact(token=token, spender=manager, amount=amount)
        for token, amount in zip((token0, token1), amounts, strict=True)
    ]
    return (*approvals, Call(manager, encode_call(MINT, params), 0, "mint"))


def transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return (erc20.transfer(token=reader.token("USDC"), recipient=chain.actors.deployer.address, amount=5 * 10**6),)


def fee_token_transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return (erc20.transfer(token=reader.token("FEE"), recipient=chain.actors.deployer.address, amount=10**18),)


def coin_transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return (erc20.transfer(token=reader.native(), recipient="0x" + "99" * 20, amount=12345),)


def wrap_and_unwrap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    wrapped = reader.wrapped_native()
    return weth.wrap(wrapped=wrapped, amount=10**17), weth.unwrap(wrapped=wrapped, amount=4 * 10**16)


def approve_then_revoke(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    token, spender = reader.token("USDT"), chain.contracts["permit2"]
    return (
        erc20.approve_exact(token=token, spender=spender, amount=7),
        *erc20.approvals_for(token=token, spender=spender, amount=9, allowance=7),
        erc20.revoke(token=token, spender=spender),
    )


def aggregate(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    """Multicall3: coins go in and some come back, a balance is read, a call that fails is allowed to."""
    usdc = reader.token("USDC")
    inner = [
        (chain.contracts["weth9"], False, 10**15, encode_call("function deposit() payable")),
        (usdc.address, False, 0, encode_call("function balanceOf(address account) view returns (uint256)", me)),
        (usdc.address, True, 0, encode_call("function transfer(address to, uint256 value)", me, 2**200)),
    ]
    return (Call(MULTICALL3, encode_call(AGGREGATE, inner), 10**15, "aggregate"),)


def permit2_transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    """Through Permit2 by the account itself; what is left of its allowance there stays."""
    token, amount = reader.token("USDC"), 9 * 10**6
    data = encode_call(PERMIT2_TRANSFER, me, chain.actors.deployer.address, 4 * 10**6, token.address)
    return (
        erc20.approve_exact(token=token, spender=permit2.PERMIT2, amount=amount),
        permit2.approve(token=token, spender=me, amount=amount, expiration=FAR),
        Call(permit2.PERMIT2, data, 0, "transfer"),
    )


PLANS: list[Plan] = [
    aggregate,
    permit2_transfer,
    v3_swap,
    v3_swap_of_the_coin,
    v2_swap,
    fee_token_swap,
    no_return_swap,
    lp_mint,
    transfer,
    fee_token_transfer,
    coin_transfer,
    wrap_and_unwrap,
    approve_then_revoke,
]
