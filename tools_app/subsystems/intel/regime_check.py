"""The regime of a pool worked out another way than the tool does, for its case: from the node's own logs, hour by hour.

A day's move is the price over the price a day before, the spread comes of the mean square less the square of the mean,
and hours that follow each other are counted pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Final

from tools_app.toolkit.case import Look

SWAP: Final = "event Swap(address,address,int256,int256,uint160,uint128,int24)"
ROOT: Final = 2
"""Where the square root of the price stands among the words of a swap."""
_HOUR, _DAY, _WEEK = 3_600, 24, 168


@dataclass(frozen=True, slots=True)
class ByHand:
    """`regimes` are those of each hour with a day behind it, the newest last; `drift` is the newest's."""

    drift: float
    volatility: float
    regimes: tuple[str, ...]

    @property
    def newest(self) -> str:
        return self.regimes[-1]

    def share(self, regime: str) -> float:
        """How many of the hours that were like the newest were followed by `regime`, with one more of each of five."""
        like = [later for hour, later in enumerate(self.regimes) if hour and self.regimes[hour - 1] == self.newest]
        return (1 + like.count(regime)) / (5 + len(like))


def work_out(look: Look, pool: str, *, of_second: bool) -> ByHand:
    """Of the pool's first token, or of its second: the price is turned then."""
    prices = [(at, words[ROOT] ** 2) for at, words in look.logs(pool, SWAP)]
    ends = [look.now - _HOUR * back for back in range(_WEEK - 1, -1, -1)]
    seen = [[price for at, price in prices if look.now - _HOUR * _WEEK <= at < end] for end in ends]
    logs = [(-1 if of_second else 1) * log2(each[-1]) for each in seen if each]
    return judge(logs)


def judge(logs: Sequence[float]) -> ByHand:
    """Of the logarithm of each hour's price, to the base of two."""
    moves = [logs[hour] - logs[hour - 1] for hour in range(1, len(logs))]
    mean, square = sum(moves) / len(moves), sum(each * each for each in moves) / len(moves)
    volatility = (_DAY * (square - mean * mean)) ** 0.5
    drifts = [(logs[hour] - logs[hour - _DAY]) / volatility for hour in range(_DAY, len(logs))]
    return ByHand(drifts[-1], volatility / log2(2.718281828459045), tuple(map(_name, drifts)))


def _name(drift: float) -> str:
    steps = (abs(drift) >= 1 / 2) + (abs(drift) >= 3 / 2)
    return "sideways" if not steps else ("", "weak_", "strong_")[steps] + ("bull" if drift > 0 else "bear")
