"""What a heist came to: what the owners own afterwards, at a true price that no feed tells, and what else must hold.

Nothing here shares code with the cage. Windows are exact (24 hours to the second), and a little is forgiven for what
protocols round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isqrt

from permits_app.policy_cage.contract import Limit
from tests.proof.caged.engines import Sent, make_account
from tests.proof.caged.safe import DEFAULT_LIMITS, USD, CagedSafe
from tests.proof.heists.price_watch import PriceWatch
from tests.proof.heists.scene import TRADER_MOST_USD, Scene
from tests.proof.heists.steps import Act, Finding, Heist, Step
from tests.proof.heists.watch import Position, Seen
from tools_app.standards.concentrated import amounts_for_liquidity, sqrt_price_at_tick

DAY = 86_400
BPS = 10_000
WINDOW_LOSS_BPS = 300
DEFENSIVE, SURVIVAL = 2, 3
# As many times what lay in a pool of an asset may come out of it.
MOST_OF_PROPORTION = 4
# What rounding and the interest of a block may come to, in micro-USD.
FORGIVEN = 5 * USD


@dataclass
class Judge:
    """Follows one heist."""

    scene: Scene
    heist: Heist
    losses: list[tuple[int, int]] = field(default_factory=list)
    most: int = 0
    has_price_moved: bool = False
    percent_lost: list[int] = field(default_factory=list)
    """After each step: of the most that was owned, within a day; whole percents."""

    def __post_init__(self) -> None:
        self.caged: CagedSafe = self.scene.caged
        self.trader = make_account("heists: trader").address
        # The truth, which feeds follow unless they lie.
        self.prices = {symbol: coin.price for symbol, coin in self.caged.coins.items()}
        self.rules_of_prices = PriceWatch(self.scene)
        self.given_up = 0
        self.by_number = {int(coin.address, 16): symbol for symbol, coin in self.caged.coins.items()}

    def check(self, done: Sequence[tuple[Sent, Seen]]) -> list[tuple[Finding, str]]:
        """Every finding, with what makes it plain."""
        found: list[tuple[Finding, str]] = []
        before: Seen | None = None
        for index, (step, (sent, after)) in enumerate(zip(self.heist.steps, done, strict=True)):
            for finding, why in self._check_step(step, sent, before, after):
                found.append((finding, f"heist {self.heist.order}, step {index}: {finding}: {why}"))
            before = after
            self.percent_lost.append(self._lost(sent.at) * 100 // max(1, self.most))
        return found

    def _check_step(self, step: Step, sent: Sent, before: Seen | None, after: Seen) -> list[tuple[Finding, str]]:
        found: list[tuple[Finding, str]] = []
        if step.price is not None:
            symbol, price = step.price
            self.has_price_moved = True
            if not self.heist.is_lied_to or symbol != "WETH":
                self.prices[symbol] = price
        found += self.rules_of_prices.follow(step, sent, before)
        if step.finding and sent.succeeded != (step.act is Act.MUST_SUCCEED):
            found.append((step.finding, "0x" + sent.output[:36].hex()))
        if step.act is Act.LIQUIDATION and sent.succeeded and not self.has_price_moved:
            found.append((Finding.LIQUIDATED, "seconds after it was made"))
        if before is None:
            if not sent.succeeded:
                found.append((Finding.ANSWER, f"the first step failed: 0x{sent.output.hex()}"))
            return found
        changed = [was != is_ for was, is_ in zip(before.bundle, after.bundle, strict=True)]
        if any(changed) and not all(changed):
            found.append((Finding.HALF, f"{before.bundle} became {after.bundle}"))
        if step.calls and sent.succeeded and step.finding is None:
            found += self._check_batch(step, sent.at, before, after)
        return found

    def _check_batch(self, step: Step, at: int, before: Seen, after: Seen) -> list[tuple[Finding, str]]:
        found = []
        if after.nonce != before.nonce:
            found.append((Finding.SIGNED, f"nonce {before.nonce} became {after.nonce}"))
        if after.owned != before.owned:
            found.append((Finding.OWNED, f"{after.owned:#x} was put there"))
        was, now = self.wealth(before), self.wealth(after)
        self.most = max(self.most, was)
        if now < was:
            self.losses.append((at, was - now))
        lost = self._lost(at)
        if not self.heist.is_lied_to and lost * BPS > self.most * WINDOW_LOSS_BPS + FORGIVEN * BPS:
            gained = {symbol: after.thief[symbol] - before.thief[symbol] for symbol in after.thief}
            found.append((Finding.LOST, f"{lost} of {self.most} micro-USD within a day; the thief gained {gained}"))
        if step.sender == self.trader:
            self.given_up += max(0, before.wallet["USDC"] - after.wallet["USDC"])
            if self.given_up > TRADER_MOST_USD * USD:
                found.append((Finding.ROLE, f"{self.given_up} micro-USD of USDC let go by the key of a role"))
        touches_positions = any(call.to == self.scene.v3.npm for call in step.calls)
        # What lies in a position follows from the price, and the cage knows the feed's alone.
        if not (touches_positions and self.heist.is_lied_to):
            found += self._check_caps(before, after)
        if after.identity != before.identity:
            found.append((Finding.IDENTITY, f"to {after.identity:#x}"))
        if after.said != before.said:
            found.append((Finding.SAID, f"{before.said} became {after.said}"))
        found += self._check_ranges(before, after)
        found += self._check_risk(before, after)
        found += self._check_growth(before, after)
        return found

    def _check_ranges(self, before: Seen, after: Seen) -> list[tuple[Finding, str]]:
        """Into a range under the owners' least nothing goes, whoever made it."""
        liquidity = {each.place: each.liquidity for each in before.positions}
        least = DEFAULT_LIMITS[Limit.MIN_RANGE_TICKS]
        return [
            (Finding.NARROW, f"{each.upper - each.lower} ticks, liquidity {each.liquidity}")
            for each in after.positions
            if each.upper - each.lower < least and each.liquidity > liquidity.get(each.place, 0)
        ]

    def _lost(self, at: int) -> int:
        return sum(amount for time, amount in self.losses if time > at - DAY)

    def _check_caps(self, before: Seen, after: Seen) -> list[tuple[Finding, str]]:
        found = []
        for symbol, most in self.heist.caps.items():
            gone = self._held(before, symbol) - self._held(after, symbol)
            # One unit for each index that rounds.
            if gone > most + 10:
                found.append((Finding.LEFT, f"{gone} {symbol}, and at most {most} may"))
        return found

    def _check_risk(self, before: Seen, after: Seen) -> list[tuple[Finding, str]]:
        """What leaves positions may come as it lay there; nothing but dollars is gained beyond that in exchange. What
        nothing was paid for, at a pool that somebody had pushed, is no exchange. A pool gives its assets in another
        proportion than theirs at the true price, up to some times as much of one.
        """
        if self.heist.phase < SURVIVAL:
            return []
        found, moved = [], self._moved(before, after)
        for symbol in ("WETH", "WBTC"):
            if symbol == "WBTC" and before.lent["WBTC"] != after.lent["WBTC"]:
                continue
            gained = self._held(after, symbol) - self._held(before, symbol)
            out = max(0, self._pooled(before, symbol) - self._pooled(after, symbol))
            most = moved // 20 + FORGIVEN + self.worth(symbol, out) * MOST_OF_PROPORTION
            if min(self.worth(symbol, max(0, gained)), moved) > most:
                found.append((Finding.RISKED, f"{gained} {symbol} in phase {self.heist.phase}"))
        return found

    def _check_growth(self, before: Seen, after: Seen) -> list[tuple[Finding, str]]:
        if self.heist.phase < DEFENSIVE:
            return []
        grown = self._placed(after) - self._placed(before)
        paid = self._in_wallet(before) - self._in_wallet(after)
        if paid > FORGIVEN and grown > self._moved(before, after) // 50 + FORGIVEN:
            return [
                (Finding.GROWN, f"by {grown} micro-USD in phase {self.heist.phase}, of which the wallet paid {paid}")
            ]
        return []

    # ---- what everything is worth, micro-USD -----------------------------------------------------------------------

    def worth(self, symbol: str, amount: int) -> int:
        return amount * self.prices[symbol] * USD // 10 ** (self.caged.coins[symbol].decimals + 8)

    def wealth(self, seen: Seen) -> int:
        """All that the owners own, wherever it lies: what no valuer counts is theirs too."""
        lent = sum(self.worth(symbol, amount) for symbol, amount in seen.lent.items())
        owed = sum(self.worth(symbol, amount) for symbol, amount in seen.owed.items())
        positions = sum(self._worth_of(position) for position in seen.positions)
        coins = seen.coins * self.prices["WETH"] * USD // 10**26
        placed = seen.vault + seen.treasury + positions + self._at_morpho(seen) - self.worth("USDC", seen.morpho.owed)
        return self._in_wallet(seen) + lent - owed + placed + coins

    def _at_morpho(self, seen: Seen) -> int:
        """What is lent and pledged there."""
        return self.worth("USDC", seen.morpho.lent) + self.worth("WETH", seen.morpho.pledged)

    def _in_wallet(self, seen: Seen) -> int:
        return sum(self.worth(symbol, amount) for symbol, amount in seen.wallet.items())

    def _placed(self, seen: Seen) -> int:
        lent = sum(self.worth(symbol, seen.lent[symbol]) for symbol in ("USDC", "WETH"))
        return lent + seen.vault + self._at_morpho(seen) + sum(map(self._worth_of, seen.positions))

    def _moved(self, before: Seen, after: Seen) -> int:
        """What went out of each place, and new debt."""
        moved = max(0, before.vault - after.vault)
        was_there, is_there = before.morpho, after.morpho
        moved += self.worth("USDC", max(0, was_there.lent - is_there.lent) + max(0, is_there.owed - was_there.owed))
        moved += self.worth("WETH", max(0, was_there.pledged - is_there.pledged))
        for symbol in before.wallet:
            for was, is_ in ((before.wallet, after.wallet), (before.lent, after.lent), (after.owed, before.owed)):
                moved += self.worth(symbol, max(0, was[symbol] - is_[symbol]))
        fallen = sum(map(self._worth_of, before.positions)) - sum(map(self._worth_of, after.positions))
        return moved + max(0, fallen)

    def _held(self, seen: Seen, symbol: str) -> int:
        """In wallet, loans, vault and positions; WBTC that is lent is what no valuer knows."""
        placed = self._pooled(seen, symbol) + (0 if symbol == "WBTC" else seen.lent[symbol])
        if symbol == "USDC":
            placed += seen.vault + seen.morpho.lent - seen.morpho.owed
        if symbol == "WETH":
            placed += seen.morpho.pledged
        return seen.wallet[symbol] + placed - seen.owed[symbol]

    def _pooled(self, seen: Seen, symbol: str) -> int:
        """In positions, base units."""
        return sum(self._amounts_of(position).get(symbol, 0) for position in seen.positions)

    def _worth_of(self, position: Position) -> int:
        return sum(self.worth(symbol, amount) for symbol, amount in self._amounts_of(position).items())

    def _amounts_of(self, position: Position) -> dict[str, int]:
        """What lies in a position at the true price instead of the pool's."""
        one, other = self.by_number.get(position.token0), self.by_number.get(position.token1)
        if one is None or other is None:
            return {}
        coins = self.caged.coins
        above = self.prices[one] * 10 ** coins[other].decimals
        below = self.prices[other] * 10 ** coins[one].decimals
        root = isqrt((above << 192) // below)
        ends = (sqrt_price_at_tick(position.lower), sqrt_price_at_tick(position.upper))
        amount0, amount1 = amounts_for_liquidity(root, *ends, position.liquidity, round_up=False)
        return {one: amount0 + position.owed0, other: amount1 + position.owed1}
