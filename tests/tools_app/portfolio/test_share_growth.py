"""How far a share that became dearer is believed: to the base unit, at the edge, and for every kind that tells one."""

from __future__ import annotations

import pytest

from tools_app.models import ShareMark
from tools_app.portfolio.share_price_donation_guard import (
    BelievedShare,
    believe,
    note_all_shares,
    note_shares,
    read_marks,
)
from tools_app.toolkit.positions import Leg, Position, PositionRef, ShareIndex

ME, TOKEN, CASH, PAPER = ("0x" + each * 40 for each in "1234")
YEAR = 365 * 86_400


def shares(raw: int, held: int = 10**9, *, cash: int = 1_000_000) -> Position:
    """So many shares at an index, which stand for cash and for a token without a price."""
    legs = (Leg(CASH, cash), Leg(PAPER, 1))
    return Position(PositionRef("made", "up", 1, TOKEN), "", legs, share_index=ShareIndex(TOKEN, raw, held))


def counts(mark: BelievedShare, raw: int, now: int, held: int = 10**9) -> int:
    return believe(shares(raw, held), {TOKEN: mark}, now).position.raw_of(CASH)


def test_a_share_counts_whole_up_to_twice_its_mark_in_a_year_and_not_a_unit_beyond() -> None:
    mark = BelievedShare(10**24, 10**9, at=1_000)
    assert counts(mark, 2 * 10**24, 1_000 + YEAR) == 1_000_000
    assert counts(mark, 2 * 10**24 + 10**18, 1_000 + YEAR) == 999_999
    assert counts(mark, 10**24, 1_000) == 1_000_000
    # Half a year, half the growth; a chain whose time goes back grows nothing.
    assert counts(mark, 3 * 10**24, 1_000 + YEAR // 2) == 500_000
    assert counts(mark, 2 * 10**24, 0) == 500_000
    assert counts(mark, 10**23, 1_000) == 1_000_000


def test_what_is_held_back_is_told_and_a_token_without_a_price_stays_there() -> None:
    believed = believe(shares(4 * 10**24), {TOKEN: BelievedShare(10**24, 10**9, 0)}, 0)
    assert believed.held_back == {CASH: 750_000, PAPER: 0}
    assert believed.position.raw_of(PAPER) == 1


def test_new_shares_count_at_the_price_they_came_at_and_the_mark_never_falls_by_itself() -> None:
    mark = BelievedShare(10**24, 100, 0)
    assert counts(mark, 4 * 10**24, 0, held=200) == 625_000
    assert mark.follow(ShareIndex(TOKEN, 4 * 10**24, 200), 0) == BelievedShare(25 * 10**23, 200, 0)
    assert mark.follow(ShareIndex(TOKEN, 10**23, 100), 5) == BelievedShare(10**24, 100, 5)
    assert mark.follow(ShareIndex(TOKEN, 4 * 10**24, 50), 0) == BelievedShare(10**24, 50, 0)


@pytest.mark.django_db
def test_a_mark_is_kept_for_each_account_set_again_after_minutes_and_gone_with_the_shares() -> None:
    def note(raw: int, at: int, held: int = 100) -> int:
        note_all_shares(chain_id=1, account=ME, positions=[shares(raw, held)], at=at)
        return read_marks(1, ME, [TOKEN])[TOKEN].raw

    assert note(10**24, 0) == 10**24
    assert note(10**24 + 1, 299) == 10**24
    assert note(10**24 + 1, 300) == 10**24 + 1
    # As many shares as never before are believed at once, without waiting.
    assert note(2 * 10**24, 301, held=200) > 15 * 10**23
    note_shares(chain_id=1, account=TOKEN, positions=[shares(7)], at=5)
    note_all_shares(chain_id=1, account=ME, positions=[], at=302)
    assert [row.account for row in ShareMark.objects.all()] == [TOKEN]
