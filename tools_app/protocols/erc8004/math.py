"""Computes what is said of an agent, as figures: Beta posterior, points, tier, trust. Whole numbers throughout, no I/O.

A rating is a share of what can be had, in millionths. One client has one voice, its newest word: who says the same
twice makes nothing surer, and yet whoever has many accounts has many voices. So nothing here decides anything; it
describes. The prior is Beta(1, 1): nothing is known of an agent nobody rated, and its expected rating is one half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isqrt
from typing import Final

ONE: Final = 10**6
"""A whole, in millionths."""
MOST_SCORE: Final = 500
"""Five stars, in hundredths of a star."""
_SCALE: Final = 10**18
_TOP: Final = 100 * _SCALE

FILE_POINTS: Final = 10
MOST_CLIENT_POINTS: Final = 10
VALIDATOR_POINTS: Final = 20
PASSED: Final = 50
"""The least answer of a validator, of 100, that counts as passed."""
_WEIGHTS: Final = (20, 50, 30)
_STEP: Final = 25
"""Hundredths of a star that a mean has to move to be called a trend."""
_FEW_CLIENTS, _SOME_CLIENTS = 3, 20


class Tier(StrEnum):
    """How much was said of an agent, in words. No limit and no permission follows from it."""

    BRONZE = "bronze"
    SILVER = "silver"
    GOLD = "gold"
    PLATINUM = "platinum"


THRESHOLDS: Final[Mapping[Tier, int]] = {Tier.BRONZE: 0, Tier.SILVER: 50, Tier.GOLD: 100, Tier.PLATINUM: 500}
"""Points from which a tier is reached."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """Beta(alpha, beta), both in millionths."""

    alpha: int
    beta: int

    @property
    def mean(self) -> int:
        """The expected rating, in millionths."""
        return self.alpha * ONE // (self.alpha + self.beta)

    @property
    def least(self) -> int:
        """Two standard deviations below the mean, not below nothing; in millionths."""
        total = self.alpha + self.beta
        # Variance is ab / (n^2 (n + 1)); alpha, beta and n carry millionths.
        variance = self.alpha * self.beta * ONE * ONE * ONE // (total * total * (total + ONE))
        return max(0, self.mean - 2 * isqrt(variance))


def rate(value: int, decimals: int) -> int | None:
    """A feedback's value as a rating in millionths, of 0 to 100 stars' hundredths; None where it is another measure."""
    if not 0 <= decimals <= 18:
        return None
    scaled = value * 10 ** (18 - decimals)
    return scaled * ONE // _TOP if 0 <= scaled <= _TOP else None


def make_posterior(ratings: Sequence[int]) -> Posterior:
    """What is known after ratings in millionths, one for each client."""
    return Posterior(ONE + sum(ratings), ONE + sum(ONE - each for each in ratings))


def mean_score(ratings: Sequence[int]) -> int:
    """The plain mean of ratings in hundredths of a star, 0 of none."""
    return sum(ratings) * MOST_SCORE // (len(ratings) * ONE) if ratings else 0


def name_trend(earlier: Sequence[int], recent: Sequence[int]) -> str:
    """improving, declining or stable: the mean of what was said lately against that of before."""
    if not earlier or not recent:
        return "stable"
    change = mean_score(recent) - mean_score(earlier)
    return "improving" if change >= _STEP else "declining" if change <= -_STEP else "stable"


def count_points(*, is_described: bool, ratings: Sequence[int], validators_passed: int) -> int:
    """Points of an agent: 10 for a file that can be read, up to 10 for each client, 20 for each validator it passed."""
    given = sum(each * MOST_CLIENT_POINTS // ONE for each in ratings)
    return FILE_POINTS * is_described + given + VALIDATOR_POINTS * validators_passed


def tier_of(points: int) -> Tier:
    """The highest tier whose threshold is reached."""
    return max((tier for tier in Tier if THRESHOLDS[tier] <= points), key=lambda tier: THRESHOLDS[tier])


def next_threshold(points: int) -> int | None:
    """Points from which the next tier is reached; None at the last."""
    return next((least for least in sorted(THRESHOLDS.values()) if least > points), None)


def score_trust(*, identity: int, reputation: int, validation: int) -> int:
    """0 to 100 out of three scores of 0 to 100: identity weighs 20, reputation 50, validation 30."""
    return (
        sum(weight * score for weight, score in zip(_WEIGHTS, (identity, reputation, validation), strict=True)) // 100
    )


def name_confidence(clients: int) -> str:
    """low below three clients, medium below twenty, else high."""
    return "low" if clients < _FEW_CLIENTS else "medium" if clients < _SOME_CLIENTS else "high"
