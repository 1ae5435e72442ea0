"""When a batch may run at all by what feeds say: followed from the steps alone, with nothing of the cage's."""

from __future__ import annotations

from tests.proof.caged.engines import Sent
from tests.proof.heists.scene import GRACE_SECONDS, JUMP_PERCENT, Scene
from tests.proof.heists.steps import Act, Finding, Step
from tests.proof.heists.watch import Seen

SETTLING_SECONDS = 3_600
# Prices are kept with 13 bits.
FORGIVEN_PERCENT = 0.05


class PriceWatch:
    """Follows one heist."""

    def __init__(self, scene: Scene) -> None:
        self.cage = scene.caged.cage
        self.told = {symbol: coin.price for symbol, coin in scene.caged.coins.items()}
        self.last: dict[str, int] = {}
        self.settled_at = 0
        self.is_up = True
        self.since = 0

    def follow(self, step: Step, sent: Sent, before: Seen | None) -> list[tuple[Finding, str]]:
        """What a step found, if it was a batch that ran."""
        if step.price is not None:
            symbol, price = step.price
            self.told[symbol] = price
        if not sent.succeeded:
            return []
        if step.act is Act.SEQUENCER:
            self.is_up, self.since = not int.from_bytes(step.data[-32:], "big"), sent.at
        if step.act is Act.NOTE:
            self.settled_at = sent.at + SETTLING_SECONDS
            self.last |= {symbol: self.told[symbol] for symbol in self._list_jumped(-FORGIVEN_PERCENT)}
        if not step.calls or step.to != self.cage or before is None:
            return []
        return self._check(sent.at, before)

    def _check(self, at: int, before: Seen) -> list[tuple[Finding, str]]:
        found = []
        if not self.is_up or (self.since and at - self.since < GRACE_SECONDS):
            found.append((Finding.SEQUENCER, f"up {self.is_up} since {at - self.since} s"))
        if at < self.settled_at:
            found.append((Finding.JUMPED, f"{self.settled_at - at} s before what was noted has settled"))
        jumped = self._list_jumped(FORGIVEN_PERCENT)
        found += [
            (Finding.JUMPED, f"{symbol} from {self.last[symbol]} to {self.told[symbol]}")
            for symbol in jumped
            if before.wallet[symbol]
        ]
        self.last |= {symbol: price for symbol, price in self.told.items() if symbol not in jumped}
        return found

    def _list_jumped(self, forgiven: float) -> list[str]:
        most = JUMP_PERCENT + forgiven
        return [symbol for symbol, last in self.last.items() if abs(self.told[symbol] - last) * 100 > last * most]
