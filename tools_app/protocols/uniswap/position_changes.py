"""What a plan promises to change in a V3 position, in the words that measure it: legs at the feeds' ratio.

Between the plan and the signature pool and feeds move, and with them the mix of a range; the bounds allow for that, and
what really leaves or arrives is bounded by the plan's flows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.uniswap.addresses import NAME
from tools_app.protocols.uniswap.fair_amounts import FeedRatios, FeedReads, sqrt_price_of
from tools_app.protocols.uniswap.positions_in_logs import NFT
from tools_app.standards import concentrated as v3_math
from tools_app.standards.concentrated import sqrt_price_moved
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.positions import PositionChange, PositionRef

LEAST_MOVE_BPS: Final = 100
"""So far, at least, the feeds may move after the plan was made."""
FEE_DUST: Final = 100
"""Base units a fee may come out otherwise, because the pool rounds once more for every other position in the range."""
_PARTS: Final = 100


def pair_feeds(chain_id: int, token0: str, token1: str) -> FeedReads:
    """The feeds of a pair; what is expected of a reader early costs no round trip later."""
    return FeedReads.of(load_deployment(KNOWN_NETWORKS[chain_id]), (token0, token1))


@dataclass(frozen=True, slots=True)
class Range:
    """The ticks of a position in a pool, at the feeds' ratio; where a token has no feed, at the pool's own price."""

    pool: Pool
    tick_lower: int
    tick_upper: int
    ratios: FeedRatios

    @classmethod
    def read(cls, reader: ChainReader, pool: Pool, tick_lower: int, tick_upper: int) -> Range:
        """With the feeds' answers at the pinned block."""
        feeds = pair_feeds(reader.chain_id, pool.token0, pool.token1)
        return cls(pool, tick_lower, tick_upper, feeds.read(reader.call_many(feeds.calls) if feeds.calls else []))

    def grows(
        self, liquidity: int, least: int, *, slippage_bps: int, ref: PositionRef | None = None
    ) -> tuple[PositionChange, ...]:
        """Legs of so much more liquidity, at worst of `least`; `ref` None is a position that is opened."""
        expected = self._amounts(liquidity, 0)
        ends = self._ends(least, slippage_bps)
        return self._say(ref, [(each, max(0, min(end) - 1)) for each, end in zip(expected, ends, strict=True)])

    def grows_with_fees(
        self, liquidity: int, fees: tuple[int, int], *, slippage_bps: int, ref: PositionRef
    ) -> tuple[PositionChange, ...]:
        """Legs of so much more liquidity, which takes all fees of the position out."""
        expected, ends = self._amounts(liquidity, 0), self._ends(liquidity, slippage_bps)
        told = [
            (each - fee, min(each, *end) - 1 - fee - FEE_DUST)
            for each, end, fee in zip(expected, ends, fees, strict=True)
        ]
        return self._say(ref, told)

    def shrinks(
        self, liquidity: int, whole: int, fees: tuple[int, int], *, slippage_bps: int, ref: PositionRef
    ) -> tuple[PositionChange, ...]:
        """Legs of so much less liquidity of the `whole`, and of the fees that are taken out with it."""
        told = []
        gone, ends, all_of_it = (
            self._amounts(liquidity, 0),
            self._ends(liquidity, slippage_bps),
            self._ends(whole, slippage_bps),
        )
        for amount, end, most, fee in zip(gone, ends, all_of_it, fees, strict=True):
            # Fees that are earned until then go out too.
            told.append((-(amount + fee), -(max(end) + fee + max(most) // _PARTS + FEE_DUST)))
        return self._say(ref, told)

    def _ends(self, liquidity: int, slippage_bps: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Token0 and token1 of so much liquidity when the price moves either way."""
        move = max(slippage_bps, LEAST_MOVE_BPS)
        below, above = self._amounts(liquidity, -move), self._amounts(liquidity, move)
        return (below[0], above[0]), (below[1], above[1])

    def _amounts(self, liquidity: int, moved_bps: int) -> tuple[int, int]:
        ratio = self.ratios.between(self.pool.token0, self.pool.token1)
        price = sqrt_price_of(ratio) if ratio else self.pool.sqrt_price
        amount0, amount1 = v3_math.amounts_for_liquidity(
            sqrt_price_moved(price, bps=moved_bps) if moved_bps else price,
            v3_math.sqrt_price_at_tick(self.tick_lower),
            v3_math.sqrt_price_at_tick(self.tick_upper),
            liquidity,
            round_up=False,
        )
        # Beside a token without a price, the other one's leg is its fees alone.
        unpriced = self.ratios.unpriced(self.pool.token0, self.pool.token1)
        if not unpriced:
            return amount0, amount1
        return amount0 if self.pool.token0 in unpriced else 0, amount1 if self.pool.token1 in unpriced else 0

    def _say(self, ref: PositionRef | None, told: list[tuple[int, int]]) -> tuple[PositionChange, ...]:
        return tuple(
            PositionChange(NAME, NFT, token, expected, bound, ref)
            for token, (expected, bound) in zip((self.pool.token0, self.pool.token1), told, strict=True)
        )


def nft_ref(chain_id: int, position_id: str) -> PositionRef:
    """The ref of a V3 position."""
    return PositionRef(NAME, NFT, chain_id, position_id)
