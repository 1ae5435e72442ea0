"""Decides how far a dearer share is believed, so that a stranger's gift raises nothing at once.

Whoever sends its asset to a vault makes every share dearer, and who holds most of the shares gets most of it back. So
what a share stands for counts up to a bounded yearly growth since it was last believed; what lies beyond is counted as
the time for it passes. What an account adds is believed at the price it was added at. A mark never falls by itself: a
share that lost and comes back was worth that before.

See docs/decisions/0271-vault-shares-a-price-that-rose-at-once.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from tools_app.core.units import BPS
from tools_app.models.share_mark import ShareMark
from tools_app.toolkit.positions import Position, ShareIndex

MOST_GROWTH_BPS: Final = 10_000
"""So much dearer a share may become in a year and is believed at once: it doubles."""
MARKED_AGAIN_SECONDS: Final = 300
"""Shares of which there are as many as before are marked anew at most so often."""
_YEAR_SECONDS: Final = 365 * 86_400


@dataclass(frozen=True, slots=True)
class BelievedShare:
    """An index that was believed of `held` shares at a block's second."""

    raw: int
    held: int
    at: int

    def believe(self, index: ShareIndex, now: int) -> int:
        """What of `index.raw * index.held` counts at `now`: earlier shares up to their growth, new ones as they are."""
        old = min(index.held, self.held)
        return min(index.raw, self._most_at(now)) * old + index.raw * (index.held - old)

    def follow(self, index: ShareIndex, now: int) -> BelievedShare:
        """The mark after it, for what is held now."""
        old = min(index.held, self.held)
        kept = max(self.raw, min(index.raw, self._most_at(now)))
        return BelievedShare((kept * old + index.raw * (index.held - old)) // index.held, index.held, max(now, self.at))

    def _most_at(self, now: int) -> int:
        grown = self.raw * MOST_GROWTH_BPS * max(0, now - self.at)
        return self.raw - -grown // (BPS * _YEAR_SECONDS)


@dataclass(frozen=True, slots=True)
class Believed:
    """A position whose legs hold what counts; `held_back` is what lies beyond, in base units by token."""

    position: Position
    held_back: Mapping[str, int]


ReadMarks: TypeAlias = Callable[[int, str, Collection[str]], Mapping[str, BelievedShare]]
"""Marks by token address, for a chain, an account and tokens."""


def read_marks(chain_id: int, account: str, tokens: Collection[str]) -> Mapping[str, BelievedShare]:
    """The marks of shares that `account` was seen with."""
    rows = ShareMark.objects.filter(chain_id=chain_id, account=account, token__in=tokens)
    return {row.token: BelievedShare(int(row.raw), int(row.held), row.at) for row in rows}


def believe(position: Position, marks: Mapping[str, BelievedShare], now: int) -> Believed:
    """The position as it counts at the second `now`. Without a mark all of it does."""
    index = position.share_index
    mark = marks.get(index.token) if index is not None else None
    if index is None or mark is None or (counts := mark.believe(index, now)) == (whole := index.raw * index.held):
        return Believed(position, {})
    # A leg that is there stays one, so that a token without a price is told.
    legs = tuple(leg.with_raw(max(1, leg.raw * counts // whole)) if leg.raw > 0 else leg for leg in position.legs)
    pairs = zip(position.legs, legs, strict=True)
    return Believed(replace(position, legs=legs), {told.token: told.raw - leg.raw for told, leg in pairs})


def note_shares(*, chain_id: int, account: str, positions: Iterable[Position], at: int) -> None:
    """Mark what the shares in `positions` stood for in the block of second `at`, as far as that is believed.

    Two who mark the same at once mark it once.
    """
    told = _list_told(positions)
    if not told:
        return
    mine = ShareMark.objects.filter(chain_id=chain_id, account=account)
    _mark(chain_id, account, told, {row.token: row for row in mine.filter(token__in=told)}, at)


def forget_shares(*, chain_id: int, account: str, tokens: Collection[str]) -> None:
    """`account` has none of these any more: what it gets again is believed at the price of that day."""
    ShareMark.objects.filter(chain_id=chain_id, account=account, token__in=tokens).delete()


def note_all_shares(*, chain_id: int, account: str, positions: Collection[Position], at: int) -> None:
    """The same of a whole look at `account`: shares it did not find are gone. One question where nothing changed."""
    held = {each.share_index.token for each in positions if each.share_index is not None}
    mine = ShareMark.objects.filter(chain_id=chain_id, account=account)
    rows = {row.token: row for row in mine}
    gone = [row.token for row in rows.values() if row.token not in held and row.at <= at]
    if gone:
        # What was marked again meanwhile is there.
        mine.filter(token__in=gone, at__lte=at).delete()
    if told := _list_told(positions):
        _mark(chain_id, account, told, rows, at)


# ---- below ----------------------------------------------------------------------------------------------------------


def _list_told(positions: Iterable[Position]) -> dict[str, ShareIndex]:
    return {each.token: each for position in positions if (each := position.share_index) and each.raw and each.held}


def _mark(chain_id: int, account: str, told: Mapping[str, ShareIndex], rows: Mapping[str, ShareMark], at: int) -> None:
    """Mark what is told beside `rows`, the marks that were there."""
    mine = ShareMark.objects.filter(chain_id=chain_id, account=account)
    fresh = []
    for token, index in sorted(told.items()):
        row = rows.get(token)
        mark = BelievedShare(index.raw, index.held, at)
        if row is None:
            fresh.append(_row(chain_id, account, token, mark))
        elif at - row.at >= MARKED_AGAIN_SECONDS or row.held != str(index.held):
            mark = BelievedShare(int(row.raw), int(row.held), row.at).follow(index, at)
            # Who marked it meanwhile saw the same shares.
            unchanged = mine.filter(pk=row.pk, raw=row.raw, held=row.held, at=row.at)
            unchanged.update(raw=str(mark.raw), held=str(mark.held), at=mark.at)
    if fresh:
        ShareMark.objects.bulk_create(fresh, ignore_conflicts=True)


def _row(chain_id: int, account: str, token: str, mark: BelievedShare) -> ShareMark:
    return ShareMark(
        chain_id=chain_id, account=account, token=token, raw=str(mark.raw), held=str(mark.held), at=mark.at
    )
