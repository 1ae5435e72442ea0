"""The real Uniswap V3 beside a caged Safe: factory, position manager, router, and pools of anybody's making."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

from golem_project.embedded.world.artifacts import fetch_artifacts
from golem_project.embedded.world.deploy import V3_PERIPHERY
from permits_app.policy_cage.contract import Rule, call_rule, spender_rule, valuer_rule
from tests.proof.caged.engines import Sent
from tests.proof.caged.safe import APPROVE, USD, CagedSafe, deploy, selector, set_session
from tools_app.chain.abi import encode_call, encode_constructor
from tools_app.toolkit.plan import Call

WHOLE = 10**18
EXACT_IN = "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)"
MINT_V3 = (
    "function mint((address token0, address token1, uint24 fee, int24 lower, int24 upper, uint256 a0, uint256 a1,"
    " uint256 m0, uint256 m1, address recipient, uint256 deadline) params)"
)
INCREASE = (
    "function increaseLiquidity((uint256 tokenId, uint256 a0, uint256 a1, uint256 m0, uint256 m1, uint256 deadline)"
    " params)"
)
DECREASE = (
    "function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 m0, uint256 m1, uint256 deadline) p)"
)
COLLECT = "function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params)"
POSITIONS = (
    "function positions(uint256 tokenId) view returns (uint96 nonce, address operator, address token0, address token1,"
    " uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 inside0, uint256 inside1,"
    " uint128 owed0, uint128 owed1)"
)
CREATE_POOL = "function createAndInitializePoolIfNecessary(address a, address b, uint24 fee, uint160 price)"
MOST = 2**128 - 1
FOREVER = 2**40


class V3:
    """The real factory, position manager and router beside a caged Safe; the thief makes any pool it likes."""

    def __init__(self, caged: CagedSafe, *, is_valued: bool = True, calls: Sequence[Rule] | None = None) -> None:
        self.caged, self.engine, self.thief = caged, caged.engine, caged.stranger
        folder = "artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
        self.factory = self._create("uniswap_v3_core", folder, "constructor()")
        manager = f"{V3_PERIPHERY}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json"
        three = "constructor(address factory, address weth, address descriptor)"
        self.npm = self._create("uniswap_v3_periphery", manager, three, self.factory, caged.venue, caged.venue)
        rules = [call_rule(self.npm, selector(text)) for text in (MINT_V3, INCREASE, DECREASE, COLLECT)]
        if is_valued:
            valuer = deploy(caged, "V3PositionValuer", "constructor(address manager)", self.npm)
            rules.append(valuer_rule(self.npm, valuer))
        caged.change(spender_rule(self.npm, most_micro_usd=50_000 * USD), *(rules if calls is None else calls))
        set_session(caged)

    def _create(self, package: str, path: str, types: str, *args: Any) -> str:
        code = fetch_artifacts().creation_code(package, path) + encode_constructor(types, *args)
        created = self.engine.send(self.caged.deployer, None, code).created
        assert created
        return created

    def deploy_router(self) -> str:
        path = f"{V3_PERIPHERY}/SwapRouter02.sol/SwapRouter02.json"
        types = "constructor(address a, address b, address c, address d)"
        venue = self.caged.venue
        return self._create("uniswap_swap_router", path, types, venue, self.factory, self.npm, venue)

    def as_thief(self, to: str, signature: str, *args: Any) -> Sent:
        sent = self.engine.send(self.thief, to, encode_call(signature, *args))
        assert sent.succeeded
        return sent

    def order(self, one: str, other: str, dollars: float) -> tuple[str, str, int, int]:
        """The two tokens as a pool orders them, and what so many dollars are of each."""
        coins = {coin.address: coin for coin in self.caged.coins.values()}
        first, second = sorted((one, other), key=lambda address: int(address, 16))

        def units(token: str) -> int:
            return int(dollars * 10**8 * 10 ** coins[token].decimals // coins[token].price)

        return first, second, units(first), units(second)

    def open_pool(self, one: str, other: str, fee: int) -> None:
        first, second, amount0, amount1 = self.order(one, other, 10**6)
        self.as_thief(self.npm, CREATE_POOL, first, second, fee, isqrt((amount1 << 192) // amount0))

    def minting(self, one: str, other: str, fee: int, dollars: float, to: str) -> tuple[Any, ...]:
        first, second, amount0, amount1 = self.order(one, other, dollars)
        return (first, second, fee, -887_220, 887_220, amount0, amount1, 0, 0, to, FOREVER)

    def open_position(self, one: str, other: str, fee: int, dollars: float, to: str = "") -> list[Call]:
        """Of the session key: approve both, mint, and take back what is left of the rights."""
        caged, asked = self.caged, self.minting(one, other, fee, dollars, to or self.caged.safe)
        rights = [caged.call(asked[n], APPROVE, self.npm, asked[5 + n]) for n in (0, 1)]
        nothing = [caged.call(asked[n], APPROVE, self.npm, 0) for n in (0, 1)]
        return [*rights, caged.call(self.npm, MINT_V3, asked), *nothing]

    def leave(self, number: int, liquidity: int, to: str | None = None) -> list[Call]:
        caged = self.caged
        return [
            caged.call(self.npm, DECREASE, (number, liquidity, 0, 0, FOREVER)),
            caged.call(self.npm, COLLECT, (number, to or caged.safe, MOST, MOST)),
        ]

    def liquidity(self, number: int) -> int:
        return int(self.caged.read(self.npm, POSITIONS, number)[7])

    def wealth(self) -> int:
        """Dollars and WETH of the thief, in micro-USD."""
        thief = self.thief.address
        return self.caged.balance("USDC", thief) + self.caged.balance("WETH", thief) * 3_000 * USD // WHOLE
