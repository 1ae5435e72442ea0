"""The bounds of the cage, checked by what the watcher saw alone; nothing here asks the cage or shares its code.

Windows are exact here (24 hours to the second); the contract's are a little stricter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from permits_app.policy_cage.contract import Limit
from tests.proof.caged.safe import DEFAULT_LIMITS, USD, CagedSafe
from tests.proof.caged.watching import Seen, Step

DAY = 86_400
BPS = 10_000
DEFENSIVE = 2


@dataclass
class Ledger:
    """What has left within a day, by (time, amount)."""

    entries: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def add(self, what: str, at: int, amount: int) -> int:
        """Count it; returns the sum of the day that ends now."""
        listed = self.entries.setdefault(what, [])
        listed.append((at, amount))
        return sum(value for time, value in listed if time > at - DAY)


@dataclass
class Bounds:
    """Follows one run and says which bound was broken."""

    caged: CagedSafe
    start: Seen
    limits: dict[Limit, int] = field(default_factory=lambda: dict(DEFAULT_LIMITS))
    most_usd: int = 50_000
    budget_usd: int = 10**8

    def __post_init__(self) -> None:
        self.prices = {symbol: coin.price for symbol, coin in self.caged.coins.items()}
        self.ledger = Ledger()
        self.last_rebalance_at = 0
        self.used = 0
        self.caps = {
            symbol: self.most_usd * USD * 10 ** (coin.decimals + 8) // (coin.price * USD)
            for symbol, coin in self.caged.coins.items()
        }

    def check_run(self, steps: Sequence[Step]) -> list[str]:
        """One line for each bound that was broken."""
        findings: list[str] = []
        before = self.start
        for step in steps:
            for symbol, price in step.batch.prices:
                self.prices[symbol] = price
            broken = self._check_always(step.seen, step.sent.at)
            if not step.sent.succeeded:
                if step.seen != before:
                    broken.append("a refused batch left a trace")
            else:
                broken += self._check_batch(before, step)
            for symbol, price in step.batch.restored:
                self.prices[symbol] = price
            findings += [f"batch {step.batch.number}: {line}" for line in broken]
            before = step.seen
        return findings

    def _check_always(self, seen: Seen, at: int) -> list[str]:
        broken = []
        kept = (seen.threshold, seen.owners, seen.nonce, seen.is_cage_module, seen.is_thief_module)
        start = self.start
        if kept != (start.threshold, start.owners, start.nonce, True, False):
            broken.append("the Safe's own settings changed")
        if seen.coins != start.coins:
            broken.append("coins left that are no approved asset")
        for index, amount in enumerate(seen.allowances):
            symbol, spender = tuple(self.prices)[index // 3], index % 3
            if spender != 0 and (amount or seen.permitted(at)[index]):
                broken.append(f"an allowance of {amount} {symbol} for one who is no spender")
            if amount >= 2**128:
                broken.append("an unlimited allowance")
        return broken

    def _check_batch(self, before: Seen, step: Step) -> list[str]:
        after, at, broken = step.seen, step.sent.at, []
        was, now = self._values(before), self._values(after)
        moved, worth_given = 0, 0
        for index, symbol in enumerate(self.prices):
            fall = max(0, before.balances[index] - after.balances[index])
            moved += max(0, was[index] - now[index])
            # What a spender may still take counts as gone already.
            rights = sum(
                max(0, given[place] - had[place])
                for had, given in ((before.allowances, after.allowances), (before.permitted(at), after.permitted(at)))
                for place in range(3 * index, 3 * index + 3)
            )
            worth_given += self._worth(symbol, rights)
            gone = fall + rights
            if gone > self.caps[symbol]:
                broken.append(f"{gone} of {symbol} left at once")
            if gone and self.ledger.add(symbol, at, gone) > 2 * self.caps[symbol]:
                broken.append(f"too much {symbol} left within a day")
            for had, given in (
                (before.allowances[3 * index], after.allowances[3 * index]),
                (before.permitted(at)[3 * index], after.permitted(at)[3 * index]),
            ):
                if given > had and self._worth(symbol, given) > 50_000 * USD:
                    broken.append(f"an allowance worth more than it may be: {given} {symbol}")
        moved += max(0, before.position[0] - after.position[0]) + max(0, after.position[1] - before.position[1])
        self.used += moved + worth_given
        if self.used > self.budget_usd * USD:
            broken.append(f"{self.used} micro-USD moved or given away, more than the session may")
        total_was, total_now = self._total(before), self._total(after)
        broken += self._check_loss(at, total_was - total_now, moved, total_was)
        broken += self._check_shares(before, after, was, now, total_was, total_now)
        broken += self._check_exchange(before, after, at, total_now)
        return broken

    def _check_loss(self, at: int, loss: int, moved: int, total_was: int) -> list[str]:
        if loss <= 0:
            return []
        broken = []
        if loss * BPS > moved * self.limits[Limit.MAX_LOSS_BPS]:
            broken.append(f"{loss} of {moved} micro-USD lost")
        if self.ledger.add("losses", at, loss) * BPS > total_was * self.limits[Limit.MAX_WINDOW_LOSS_BPS]:
            broken.append("too much lost within a day")
        return broken

    def _check_shares(
        self, before: Seen, after: Seen, was: list[int], now: list[int], total_was: int, total_now: int
    ) -> list[str]:
        broken = []
        share = Limit.MAX_CONCENTRATION_BPS
        shares = [
            ("WETH", was[1], now[1], share),
            ("WBTC", was[2], now[2], share),
            ("the position", before.position[2], after.position[2], Limit.MAX_POSITION_BPS),
        ]
        for name, value_was, value_now, limit in shares:
            if value_now * BPS > total_now * self.limits[limit] and value_now * total_was > value_was * total_now:
                broken.append(f"{name} grew over its share")
        gross, debt = after.position[0], after.position[1]
        is_covered = gross * BPS >= debt * self.limits[Limit.MIN_COLLATERAL_RATIO_BPS]
        is_better = before.position[1] > 0 and gross * before.position[1] >= before.position[0] * debt
        if not is_covered and not is_better:
            broken.append("a debt is not covered")
        return broken

    def _check_exchange(self, before: Seen, after: Seen, at: int, total_now: int) -> list[str]:
        broken = []
        changes = [now - was for was, now in zip(before.balances, after.balances, strict=True)]
        others = changes[1:]
        if any(change > 0 for change in others) and any(change < 0 for change in others):
            if at - self.last_rebalance_at < self.limits[Limit.MIN_REBALANCE_INTERVAL_SECONDS]:
                broken.append("rebalanced too soon")
            self.last_rebalance_at = at
            if self.ledger.add("rebalances", at, 1) > self.limits[Limit.MAX_REBALANCES_PER_DAY]:
                broken.append("too many rebalances within a day")
        opens = (changes[0] < 0 and any(change > 0 for change in others)) or after.position[1] > before.position[1]
        floor = self.limits[Limit.HIGH_WATER_MARK_MICRO_USD] * (BPS - self.limits[Limit.MAX_DRAWDOWN_BPS]) // BPS
        if opens and total_now < floor:
            broken.append("opened in a drawdown")
        if opens and self.limits[Limit.PHASE] >= DEFENSIVE:
            broken.append("opened in a phase that does not allow it")
        if opens and not self.limits[Limit.HIGH_WATER_MARK_MICRO_USD]:
            broken.append("opened without a high-water mark")
        return broken

    def _values(self, seen: Seen) -> list[int]:
        return [self._worth(symbol, amount) for symbol, amount in zip(self.prices, seen.balances, strict=True)]

    def _worth(self, symbol: str, amount: int) -> int:
        coin = self.caged.coins[symbol]
        return amount * self.prices[symbol] * USD // 10 ** (coin.decimals + 8)

    def _total(self, seen: Seen) -> int:
        return sum(self._values(seen)) + seen.position[0] - seen.position[1]
