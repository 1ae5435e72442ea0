"""What the tripwire makes of figures alone: when something is news, and when it is forgotten."""

from __future__ import annotations

from golem_project.heartbeat.debt_health import (
    Alarm,
    ToldDebt,
    WatchedDebt,
    describe_dangers,
    keep_told,
    read_debts,
    read_told,
    watch_debts,
    write_debts,
)
from tools_app.portfolio.holdings import HeldPosition, Holdings
from tools_app.toolkit.positions import Position, PositionRef

FLOOR = 15_000
REF = PositionRef("bank", "account", 1, "0xa")


class Life:
    """Looks one after the other, each starting from what the one before stored."""

    def __init__(self) -> None:
        self.stored: dict[str, object] = {}

    def look(self, health: int | None) -> str:
        """What is told: the alarm's name, or nothing. None: the chain does not answer."""
        told, before = read_told(self._rows()), read_debts(self._rows())
        holdings = None if health is None else hold(health)
        debts = watch_debts(holdings=holdings, floor_bps=FLOOR, told=told, remembered=before)
        news = [each for each in debts if each.is_news]
        told |= {each.ref: told.get(each.ref, ToldDebt()).and_of(each) for each in news}
        self.stored = write_debts(debts, keep_told(told, debts))
        return news[0].alarm.name if news else ""

    def _rows(self) -> dict[str, object]:
        return dict(self.stored)


def hold(health: int) -> Holdings:
    return Holdings(tokens=(), positions=(HeldPosition(Position(REF, "a loan", ()), (), (), health),))


def test_a_fall_is_told_at_the_warning_at_the_floor_and_when_it_goes_on() -> None:
    life = Life()
    seen = [life.look(each) for each in (20_000, 16_400, 16_300, 14_900, 14_800, 14_400, 14_390, 13_000)]
    assert seen == ["", "NEAR", "", "UNDER", "", "UNDER", "", "UNDER"]


def test_a_health_around_its_limits_is_told_once_until_it_is_well() -> None:
    life = Life()
    assert [life.look(each) for each in (16_400, 16_600, 16_400, 16_600)] == ["NEAR", "", "", ""]
    assert [life.look(each) for each in (14_999, 15_100, 14_999, 16_000)] == ["UNDER", "", "", ""]
    assert [life.look(each) for each in (16_800, 16_400)] == ["", "NEAR"]


def test_a_health_that_cannot_be_told_is_news_once_and_hides_no_fall() -> None:
    life = Life()
    assert [life.look(each) for each in (20_000, None, None, 0)] == ["", "UNKNOWN", "", ""]
    assert [life.look(each) for each in (14_000, None, 14_000, 13_500)] == ["UNDER", "", "", "UNDER"]
    assert life.look(20_000) == "" and life.look(None) == "UNKNOWN"


def test_a_debt_that_is_paid_is_forgotten_and_nothing_is_said_of_none() -> None:
    life = Life()
    life.look(14_000)
    debts = watch_debts(holdings=Holdings(tokens=()), floor_bps=FLOOR, told={}, remembered=())
    assert debts == () and write_debts(debts, {}) == {}


def test_the_cockpits_sentence_says_what_is_done_and_what_was_refused() -> None:
    debt = WatchedDebt(str(REF), "a loan", 14_000, FLOOR, Alarm.UNDER)
    rows = write_debts([debt], {})
    [(sentence, is_under)] = describe_dangers({"health": rows})
    assert is_under and "1.40, under your floor of 1.50" in sentence and "until it is 1.72" in sentence
    waits = {f"rescue:{REF}": {"code": "TOKEN_NOT_ALLOWED", "until": "2026-12-01T00:00:00+00:00", "count": 1}}
    [(sentence, _)] = describe_dangers({"health": rows, "waits": waits})
    assert "was refused (TOKEN_NOT_ALLOWED)" in sentence
