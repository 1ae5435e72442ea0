"""Remembers which positions an account has, for protocols whose contracts cannot list them.

What is remembered is only where to look: a position counts when the chain tells of it. One that is gone is looked for
no more, until a receipt or a look finds it again. Seed: issue "The shelf", positions that no contract can list.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from tools_app.models.known_position import KnownPosition
from tools_app.toolkit.positions import PositionRef

MOST_HINTS = 200
"""So many of an account's positions are looked for, the last seen first."""
SEEN_AGAIN = timedelta(minutes=5)
"""A position that is seen again is noted at most so often."""


def list_hints(*, chain_id: int, account: str) -> tuple[PositionRef, ...]:
    """The positions `account` had when last looked at."""
    rows = KnownPosition.objects.filter(account=account, chain_id=chain_id, gone_at__isnull=True)
    return parse_refs(rows.order_by("-last_seen", "ref").values_list("ref", flat=True)[:MOST_HINTS])


def parse_refs(texts: Iterable[str]) -> tuple[PositionRef, ...]:
    """Names as they are stored."""
    return tuple(PositionRef.parse(text) for text in texts)


def remember_positions(*, account: str, refs: Iterable[PositionRef], now: datetime) -> None:
    """Note that `account` may have these. Two who note the same at once note it once."""
    rows = [
        KnownPosition(chain_id=ref.chain_id, account=account, ref=str(ref), first_seen=now, last_seen=now)
        for ref in sorted(set(refs))
        if len(str(ref)) <= 200
    ]
    if rows:
        KnownPosition.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["account", "ref"], update_fields=["last_seen", "gone_at"]
        )


def note_found(
    *, chain_id: int, account: str, asked: Iterable[PositionRef], found: Iterable[PositionRef], now: datetime
) -> None:
    """What a whole look at `account` found, of the `asked` and besides. What was asked for and not found is gone."""
    seen = set(found)
    lost = [str(ref) for ref in asked if ref not in seen]
    mine = KnownPosition.objects.filter(account=account, chain_id=chain_id)
    if lost:
        mine.filter(ref__in=lost, gone_at__isnull=True, last_seen__lte=now).update(gone_at=now)
    if not seen:
        return
    names = [str(ref) for ref in seen]
    fresh = set(
        mine.filter(ref__in=names, gone_at__isnull=True, last_seen__gt=now - SEEN_AGAIN).values_list("ref", flat=True)
    )
    remember_positions(account=account, refs=[ref for ref in seen if str(ref) not in fresh], now=now)
