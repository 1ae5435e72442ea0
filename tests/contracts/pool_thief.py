"""A thief with the session key and a Uniswap V3 pool of its own making, where nobody else trades."""

from __future__ import annotations

from math import sqrt
from typing import Any

from permits_app.policy_cage.contract import call_rule
from tests.contracts.attackers import ran
from tests.proof.caged.engines import Sent
from tests.proof.caged.safe import APPROVE, USD, CagedSafe, selector, set_session
from tests.proof.caged.uniswap import FOREVER, INCREASE, MINT_V3, V3, WHOLE
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

MULTICALL = "function multicall(bytes[] data)"
EXACT_IN_SINGLE = (
    "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn,"
    " uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)"
)
SLOT0 = "function slot0() view returns (uint160 price, int24 tick, uint16 a, uint16 b, uint16 c, uint8 d, bool e)"
GET_POOL = "function getPool(address a, address b, uint24 fee) view returns (address)"
ETH_DOLLARS = 3_000
FEE, SPACING = 500, 10


class PoolThief:
    """Mints dollars of the Safe below the price of ether in a pool of its own, and buys them once ether fell."""

    def __init__(self, caged: CagedSafe) -> None:
        self.caged, self.v3 = caged, V3(caged)
        caged.change(call_rule(self.v3.npm, selector(MULTICALL)))
        set_session(caged)
        self.usdc, self.weth = caged.coins["USDC"].address, caged.coins["WETH"].address
        self.is_dollar_first = int(self.usdc, 16) < int(self.weth, 16)
        self.v3.open_pool(self.usdc, self.weth, FEE)
        [pool] = caged.read(self.v3.factory, GET_POOL, self.usdc, self.weth, FEE)
        self.tick = int(caged.read(pool, SLOT0)[1])
        self.router = self.v3.deploy_router()
        caged.mint("WETH", self.v3.thief.address, 100 * WHOLE)
        for token in (self.usdc, self.weth):
            for spender in (self.router, self.v3.npm):
                self.v3.as_thief(token, APPROVE, spender, 2**255)

    def asked(self, ticks: int, dollars: int, to: str = "") -> tuple[Any, ...]:
        """A range of so many ticks that begins at the price and holds dollars alone."""
        at = self.tick // SPACING * SPACING
        lower = at + SPACING if self.is_dollar_first else at - ticks
        amounts = (dollars * USD, 0) if self.is_dollar_first else (0, dollars * USD)
        tokens = (self.usdc, self.weth) if self.is_dollar_first else (self.weth, self.usdc)
        return (*tokens, FEE, lower, lower + ticks, *amounts, 0, 0, to or self.caged.safe, FOREVER)

    def minting(self, ticks: int, dollars: int, *, in_bundle: bool = False) -> list[Call]:
        """The key's batch: the right to the dollars, the position, and what is left of the right taken back."""
        caged, npm = self.caged, self.v3.npm
        mint = caged.call(npm, MINT_V3, self.asked(ticks, dollars))
        if in_bundle:
            mint = caged.call(npm, MULTICALL, [mint.data])
        return self._with_right(dollars, mint)

    def increasing(self, number: int, dollars: int, *, in_bundle: bool = False) -> list[Call]:
        """The same of a position that the Safe has."""
        amounts = (dollars * USD, 0) if self.is_dollar_first else (0, dollars * USD)
        more = self.caged.call(self.v3.npm, INCREASE, (number, *amounts, 0, 0, FOREVER))
        if in_bundle:
            more = self.caged.call(self.v3.npm, MULTICALL, [more.data])
        return self._with_right(dollars, more)

    def _with_right(self, dollars: int, call: Call) -> list[Call]:
        caged, npm = self.caged, self.v3.npm
        return [caged.call(self.usdc, APPROVE, npm, dollars * USD), call, caged.call(self.usdc, APPROVE, npm, 0)]

    def give(self, ticks: int, dollars: int) -> None:
        """The thief's own dollars in a range, as the Safe's position."""
        self.caged.mint("USDC", self.v3.thief.address, dollars * USD)
        self.v3.as_thief(self.v3.npm, MINT_V3, self.asked(ticks, dollars))

    def put_all_it_may(self, ticks: int) -> int:
        """Position after position until no more is let in; returns the dollars that went in."""
        put = 0
        for dollars in (20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100):
            while self.caged.execute(*self.minting(ticks, dollars)).succeeded:
                put += dollars
        return put

    def fall(self, per_cent: int) -> None:
        """Ether falls by so much; the feed says so."""
        self.caged.set_price("WETH", ETH_DOLLARS * (100 - per_cent) * 10**6)

    def take(self, per_cent: int) -> int:
        """Sell ether into the pool down to the new price, and return the thief's gain in micro-USD at that price."""
        before, dollars = self._worth(per_cent), ETH_DOLLARS * (100 - per_cent) / 100
        first, second = (dollars * 10**6, WHOLE) if not self.is_dollar_first else (WHOLE, dollars * 10**6)
        limit = int(sqrt(first / second) * 2**96)
        asked = (self.weth, self.usdc, FEE, self.v3.thief.address, 90 * WHOLE, 0, limit)
        sent = self.caged.engine.send(self.v3.thief, self.router, encode_call(EXACT_IN_SINGLE, asked))
        assert sent.succeeded
        return self._worth(per_cent) - before

    def _worth(self, per_cent: int) -> int:
        caged, thief = self.caged, self.v3.thief.address
        ether = caged.balance("WETH", thief) * ETH_DOLLARS * USD * (100 - per_cent) // (100 * WHOLE)
        return caged.balance("USDC", thief) + ether


def touch(caged: CagedSafe) -> Sent:
    """The smallest batch there is."""
    return ran(caged, caged.execute(caged.approve("USDC", 1)))
