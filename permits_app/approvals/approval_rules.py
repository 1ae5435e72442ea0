"""Decides who must agree to a change, how long it waits, and how long each action is announced. Pure.

See docs/decisions/0025-approvals-who-approves-and-how-long-a-change-waits.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tools_app.toolkit.enums import RiskTier

NEEDS_OWNER: Final = frozenset({RiskTier.HIGH, RiskTier.CRITICAL})
TWO_OWNERS: Final = 2

HOUR_SECONDS: Final = 3_600
COOLING_SMALL_SECONDS: Final = HOUR_SECONDS
COOLING_MEDIUM_SECONDS: Final = 24 * HOUR_SECONDS
COOLING_LARGE_SECONDS: Final = 48 * HOUR_SECONDS
SMALL_LOOSENING_BPS: Final = 2_500
MEDIUM_LOOSENING_BPS: Final = 10_000

WARDEN_DELAY_SECONDS: Final = {
    RiskTier.ROUTINE: 0,
    RiskTier.STANDARD: 600,
    RiskTier.ELEVATED: HOUR_SECONDS,
    RiskTier.HIGH: 24 * HOUR_SECONDS,
    RiskTier.CRITICAL: 48 * HOUR_SECONDS,
}


@dataclass(frozen=True, slots=True)
class Quorum:
    """How many owners must approve, which one may not, and whether each needs a second factor."""

    required: int
    barred_owner_id: int | None
    is_single_owner: bool
    needs_second_factor: bool


def find_quorum(
    *,
    tier: RiskTier,
    owner_ids: Iterable[int],
    asker_id: int | None,
    key_maker_id: int | None,
    is_tightening: bool = False,
) -> Quorum:
    """The quorum of one request. `asker_id` is the owner who asked, `key_maker_id` the one whose agent did.

    What only tightens one owner decides, also the one who asked: it needs nobody's leave, on chain only a signature.
    So does what is below HIGH: it is asked for only because a Safe wants its owners' signatures.

    HIGH: one owner, not one who asked personally. CRITICAL: two, never the asker nor the owner behind the agent; of
    two owners the other one alone remains. A single owner decides alone, with a second factor.
    """
    owners = set(owner_ids)
    if is_tightening or tier not in NEEDS_OWNER:
        return Quorum(1, None, is_single_owner=len(owners) <= 1, needs_second_factor=False)
    barred = asker_id if asker_id in owners else None
    if barred is None and tier is RiskTier.CRITICAL and key_maker_id in owners:
        barred = key_maker_id
    if len(owners) <= 1:
        return Quorum(1, barred, is_single_owner=True, needs_second_factor=True)
    eligible = len(owners - {barred})
    required = min(TWO_OWNERS, eligible) if tier is RiskTier.CRITICAL else 1
    return Quorum(required, barred, is_single_owner=False, needs_second_factor=tier in NEEDS_OWNER)


def cool_off(loosening_bps: int | None) -> int:
    """Seconds a loosening waits after its approval; None stands for what has no measure (a new target or spender)."""
    if loosening_bps is None or loosening_bps > MEDIUM_LOOSENING_BPS:
        return COOLING_LARGE_SECONDS
    if loosening_bps > SMALL_LOOSENING_BPS:
        return COOLING_MEDIUM_SECONDS
    return COOLING_SMALL_SECONDS


def tier_of_loosening(loosening_bps: int | None) -> RiskTier:
    """HIGH up to a quarter more, CRITICAL beyond and for what has no measure."""
    if loosening_bps is not None and loosening_bps <= SMALL_LOOSENING_BPS:
        return RiskTier.HIGH
    return RiskTier.CRITICAL


def measure_loosening(*, before: int, after: int, looser_is_higher: bool) -> int | None:
    """How much looser in basis points, rounded up; 0 or less when it is not looser; None when there is no ratio."""
    low, high = (before, after) if looser_is_higher else (after, before)
    if high <= low:
        return 0
    if low <= 0:
        return None
    return -(-(high - low) * 10_000 // low)
