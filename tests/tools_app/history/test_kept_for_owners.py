"""An owner's golems keep logs for as long as the owner says; who keeps longest decides of what several want."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from archetypes_app.models import Golem
from tests.factories import make_golem, make_owner
from tests.tools_app.history.followed import Followed
from tools_app.history import log_expiry
from tools_app.history.index_reads import find_one, read_since
from tools_app.models import AuditEntry, ChainLog, LogGap, LogSource, LogWish, OwnerHistory
from tools_app.models.history import SourceKind
from tools_app.portfolio.pool_history import read_kept_past
from tools_app.toolkit.pool_ids import PoolId

pytestmark = pytest.mark.django_db


@pytest.fixture
def golem(followed: Followed) -> Golem:
    made = make_golem(owner=make_owner())
    followed.golem_id = made.pk
    return made


def keep(golem: Golem, *words: str) -> str:
    out = StringIO()
    call_command("owner_history", golem.owner.username, *words, stdout=out)
    return out.getvalue()


def read_all(followed: Followed, *by: str) -> None:
    for who in by:
        followed.watch(followed.pool.address, by=who)
    for amount in (10**9, 2 * 10**9, 3 * 10**9):
        followed.swap(amount)
    followed.mine(2)
    followed.follow()


def clean_after(days: int, followed: Followed) -> None:
    now = followed.now + timedelta(days=days)
    LogWish.objects.update(renewed_at=now)
    log_expiry.clean(now=now)


def test_logs_go_after_the_days_of_their_owner_and_their_bars_stay(golem: Golem, followed: Followed) -> None:
    assert keep(golem, "--days=3").strip().endswith("for 3 days")
    read_all(followed, str(golem.pk))
    bars = len(followed.bars())
    clean_after(2, followed)
    assert ChainLog.objects.exists()
    clean_after(5, followed)
    assert not ChainLog.objects.exists() and LogSource.objects.get().logs == 0
    assert len(followed.bars()) == bars > 0
    assert {gap.closed_because for gap in LogGap.objects.all()} <= {log_expiry.LET_GO}
    assert not followed.fill(), "what was let go is not read again"


def test_who_keeps_longest_decides_of_what_two_want(golem: Golem, followed: Followed) -> None:
    other = make_golem(owner=make_owner(name="another"))
    keep(golem, "--days=3")
    read_all(followed, str(golem.pk), str(other.pk))
    clean_after(5, followed)
    assert ChainLog.objects.exists(), "the other owner keeps as long as the server does"
    keep(other, "--days=4")
    clean_after(6, followed)
    assert not ChainLog.objects.exists()


def test_of_days_whose_logs_went_the_node_is_asked_and_no_figure_is_made_of_what_is_left(
    golem: Golem, followed: Followed
) -> None:
    read_all(followed, str(golem.pk))
    while followed.fill():
        pass
    about = PoolId(followed.pool.address)
    kept = find_one(31337, about, SourceKind.POOL)
    assert kept is not None and kept.logs_since is not None
    early = kept.known_until - timedelta(hours=1)
    assert kept.has_logs(early)
    LogSource.objects.update(kept_from=kept.known_until)
    gone = find_one(31337, about, SourceKind.POOL)
    assert gone is not None and not gone.has_logs(early) and gone.is_whole(early, gone.known_until)
    block = gone.next_block
    assert read_kept_past(kept, since=early, until_block=block, most=10) is not None
    assert read_kept_past(gone, since=early, until_block=block, most=10) is None
    assert read_since(gone, early, until_block=block) is None


def test_days_are_from_one_to_those_of_the_server_and_can_be_ended(golem: Golem, settings: Any) -> None:
    most = settings.GOLEM_HISTORY_LOG_DAYS
    for days in (0, most + 1):
        with pytest.raises(CommandError, match=f"from 1 to {most} days"):
            keep(golem, f"--days={days}")
    for days in (1, most):
        assert f"for {days} days" in keep(golem, f"--days={days}")
    assert f"for {most} days" in keep(golem, "--none") and not OwnerHistory.objects.exists()
    with pytest.raises(CommandError, match="either"):
        keep(golem, "--days=2", "--none")
    with pytest.raises(CommandError, match="no person"):
        call_command("owner_history", "nobody-of-this-name")


def test_an_owner_reads_the_days_on_the_golems_page_and_another_has_its_own(golem: Golem, followed: Followed) -> None:
    other = make_golem(owner=make_owner(name="another"))
    keep(golem, "--days=3")
    read_all(followed, str(golem.pk), str(other.pk))
    assert "<b>3 d</b><span>logs are kept</span>" in open_page(golem)
    assert "<b>90 d</b><span>logs are kept</span>" in open_page(other)


def test_an_owner_sets_the_days_on_the_page_and_nobody_else_does(
    golem: Golem, followed: Followed, settings: Any
) -> None:
    assert send_days(golem, golem.owner, "3") == 302
    assert "<b>3 d</b><span>logs are kept</span>" in open_page(golem) and 'value="3"' in open_page(golem)
    read_all(followed, str(golem.pk))
    clean_after(5, followed)
    assert not ChainLog.objects.exists()
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="LogDaysChanged").count() == 1
    most = settings.GOLEM_HISTORY_LOG_DAYS
    for wrong in ("0", "-1", str(most + 1), "3.5", "three"):
        assert send_days(golem, golem.owner, wrong) == 200, "the form is shown again"
    assert OwnerHistory.objects.get().log_days == 3
    helper = make_owner(name="helper")
    golem.co_owners.add(helper)
    assert send_days(golem, helper, "5") == 403, "a co-owner sees the page and cannot set another's days"
    assert send_days(golem, make_owner(name="stranger"), "5") in (403, 404)
    assert OwnerHistory.objects.get().log_days == 3
    assert send_days(golem, golem.owner, str(most)) == 302 and send_days(golem, golem.owner, "") == 302
    assert not OwnerHistory.objects.exists()


def send_days(golem: Golem, person: Any, days: str) -> int:
    client = Client()
    client.force_login(person)
    return client.post(f"/admin/archetypes_app/golem/{golem.pk}/followed/", {"days": days}).status_code


def open_page(golem: Golem) -> str:
    client = Client()
    client.force_login(golem.owner)
    return client.get(f"/admin/archetypes_app/golem/{golem.pk}/followed/").content.decode()
