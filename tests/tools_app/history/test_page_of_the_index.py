"""An owner's page of the index: what is followed for a golem, since when, what is missing, how much, what it costs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem
from tests.evm.world import CHAIN_ID
from tests.factories import make_golem, make_owner
from tests.tools_app.history.followed import Followed
from tools_app.history import follower_positions
from tools_app.history.followed_contracts import NOT_YET
from tools_app.models import FollowedChain, LogGap, LogSource

pytestmark = pytest.mark.django_db


def open_page(golem: Golem, person: Any) -> tuple[int, str]:
    """What somebody who signed in gets."""
    client = Client()
    client.force_login(person)
    answer = client.get(f"/admin/archetypes_app/golem/{golem.pk}/followed/")
    return answer.status_code, answer.content.decode()


@pytest.fixture
def golem(followed: Followed) -> Golem:
    made = make_golem(owner=make_owner())
    followed.golem_id = made.pk
    return made


def test_an_owner_sees_what_is_followed_since_when_what_is_missing_and_what_it_costs(
    golem: Golem, followed: Followed, settings: Any
) -> None:
    assert "Nothing is followed" in open_page(golem, golem.owner)[1]
    followed.watch(followed.pool.address)
    followed.swap(10**9)
    followed.mine(2)
    followed.follow()
    status, page = open_page(golem, golem.owner)
    assert status == 200
    for words in (
        followed.pool.address,
        "Pool on Local chain (31337)",
        "1 of at most 1,000,000",
        "being filled",
        NOT_YET,
    ):
        assert words in page, words
    assert f"contracts, of at most {settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM}" in page
    assert f"0 of {settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE}" in page and "nothing amiss" in page
    while followed.fill():
        pass
    page = open_page(golem, golem.owner)[1]
    assert "being filled" not in page
    assert f"0 of {settings.GOLEM_HISTORY_QUESTIONS_PER_MINUTE}" not in page, "what was asked is spent"
    assert f"{LogSource.objects.get().logs:,} of at most" in page


def test_the_page_names_gaps_that_nobody_fills_and_what_the_follower_met(golem: Golem, followed: Followed) -> None:
    followed.watch(followed.pool.address)
    LogGap.objects.update(closed_because="its logs were let go")
    follower_positions.note_lie(CHAIN_ID, "block 7 is not the child of block 6", now=followed.now)
    FollowedChain.objects.update(last_error="RPC_TIMEOUT: the node did not answer", rollbacks=2)
    page = open_page(golem, golem.owner)[1]
    for words in ("filled no more: its logs were let go", "block 7 is not the child", "RPC_TIMEOUT", "2 rollbacks"):
        assert words in page, words


def test_what_another_owner_has_followed_is_no_line_of_the_page_and_a_stranger_does_not_see_it(
    golem: Golem, followed: Followed
) -> None:
    other = make_golem(owner=make_owner(name="bert"), name="Other")
    theirs = followed.world.pool("v2", "USDT", "WETH").address
    followed.watch(followed.pool.address)
    followed.watch(followed.pool.address, theirs, by=str(other.pk))
    page = open_page(golem, golem.owner)[1]
    assert theirs not in page and "wanted by 1 other" in page
    assert theirs in open_page(other, other.owner)[1]
    assert open_page(golem, other.owner)[0] in (403, 404)


def test_a_pool_of_its_own_position_is_on_its_page(golem: Golem, followed: Followed) -> None:
    account = "0x" + "a7" * 20
    Golem.objects.filter(pk=golem.pk).update(address=account)
    golem.refresh_from_db()
    followed.watch(followed.pool.address, by=account)
    assert followed.pool.address in open_page(golem, golem.owner)[1]


def test_the_page_asks_as_much_for_twenty_contracts_as_for_one(golem: Golem, followed: Followed) -> None:
    addresses = [f"0x{number:040X}" for number in range(1, 21)]
    counts = []
    for some in (addresses[:1], addresses):
        followed.watch(*some)
        with CaptureQueriesContext(connection) as captured:
            assert open_page(golem, golem.owner)[0] == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]
