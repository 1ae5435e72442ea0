"""Remembers which positions an account has, for protocols whose contracts cannot list them.

What is remembered is only where to look: a position counts when the chain tells of it. One that is gone is looked for
no more, until a receipt or a look finds it again. At many protocols anybody can open positions for an account, so those
that the golem's own actions opened are looked for whatever else there is, and of the others of each kind those
known longest: dust that comes later pushes nothing out.

See docs/decisions/0324-positions-that-strangers-send-push-no-own-position-out.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.db import connection

from tools_app.models.known_position import KnownPosition
from tools_app.toolkit.positions import PositionRef

MOST_HINTS: Final = 200
"""So many of an account's positions of one kind are looked for besides its own, those known longest first."""
HINTS_SQL: Final = f"""SELECT ref FROM (
        SELECT ref, is_own, first_seen,
               row_number() OVER (PARTITION BY is_own, split_part(ref, '/', 1), split_part(ref, '/', 2)
                                  ORDER BY first_seen, ref) AS place
        FROM {KnownPosition._meta.db_table}
        WHERE account = %(account)s AND chain_id = %(chain)s AND gone_at IS NULL) AS each
    WHERE is_own OR place <= {MOST_HINTS}
    ORDER BY NOT is_own, first_seen, ref"""  # noqa: S608
"""Names of the positions to look for, of `account` on `chain`."""
SEEN_AGAIN = timedelta(minutes=5)
"""A position that is seen again is noted at most so often."""


def list_hints(*, chain_id: int, account: str) -> tuple[PositionRef, ...]:
    """The positions `account` had when last looked at."""
    with connection.cursor() as cursor:
        cursor.execute(HINTS_SQL, {"account": account, "chain": chain_id})
        return parse_refs(ref for (ref,) in cursor.fetchall())


def parse_refs(texts: Iterable[str]) -> tuple[PositionRef, ...]:
    """Names as they are stored."""
    return tuple(PositionRef.parse(text) for text in texts)


def remember_positions(*, account: str, refs: Iterable[PositionRef], now: datetime, is_own: bool = False) -> None:
    """Note that `account` may have these; `is_own`: by actions of its golem. Two who note the same note it once."""
    rows = [
        KnownPosition(
            chain_id=ref.chain_id, account=account, ref=str(ref), first_seen=now, last_seen=now, is_own=is_own
        )
        for ref in sorted(set(refs))
        if len(str(ref)) <= 200
    ]
    if rows:
        KnownPosition.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["account", "ref"],
            # What the golem opened stays its own, whoever sees it again.
            update_fields=["last_seen", "gone_at", *(["is_own"] if is_own else [])],
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
