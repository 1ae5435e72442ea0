"""What an owner reads of a halted golem: where each position stands on its way out, what it waits for, how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from permits_app.actions.halt import UNWOUND_STEP
from permits_app.models import HaltRecord
from permits_app.pages.exit_lines import describe_exit, list_halt_exits
from tests import factories
from tests.admin.rows import page

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "badge", "words"),
    [
        ({"failed": True, "outcome": "the node is gone", "reason": "x"}, "failed, tried again", "the node is gone"),
        ({"outcome": "waits", "reason": "a request ripens"}, "waits", "a request ripens"),
        ({"outcome": "its owner is needed", "reason": "sign it"}, "needs you", "sign it"),
        ({"outcome": "COMMITTED", "reason": ""}, "out", "nothing is left in it"),
        ({"outcome": "nothing is left to do", "reason": "done"}, "out", "done"),
        ({"outcome": "REFUSED", "reason": "too much"}, "refused", "too much"),
        ({"next_step": "remove_liquidity"}, "can be left now", "remove liquidity"),
        ({}, "not looked at yet", ""),
    ],
)
def test_each_state_of_a_position_has_its_badge_and_its_words(told: dict[str, Any], badge: str, words: str) -> None:
    line = describe_exit({"label": "a pool", "venue": "uniswap", **told}, now=NOW)
    assert f">{badge}<" in line.state and line.words == words
    assert (line.label, line.protocol) == ("a pool", "Uniswap")


def test_what_waits_says_until_when_or_that_nobody_knows() -> None:
    until = int((NOW + timedelta(hours=2)).timestamp())
    assert "about 2026-11-26 14:00 UTC" in describe_exit({"outcome": "waits", "until": until}, now=NOW).due
    assert describe_exit({"outcome": "waits"}, now=NOW).due == "nobody knows when"
    assert describe_exit({"outcome": "COMMITTED"}, now=NOW).due == ""
    unnamed = describe_exit({"position": "0x1", "venue": "unheard of", "permit_id": 7}, now=NOW)
    assert (unnamed.label, unnamed.protocol, unnamed.permit_id) == ("0x1", "unheard of", "7")


@pytest.mark.django_db
def test_a_halted_golems_page_lists_what_its_halt_unwinds_and_nothing_before_there_is_a_record() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    assert list_halt_exits(golem, now=NOW) == ()
    Golem.objects.filter(pk=golem.pk).update(halted_at=NOW, halt_epoch=1, halt_reason="drill")
    golem.refresh_from_db()
    assert list_halt_exits(golem, now=NOW) == ()
    halt = factories.make_halt(golem=golem)
    assert list_halt_exits(golem, now=NOW) == ()
    told = [{"label": "a deep pool", "outcome": "waits", "reason": "a request ripens"}]
    HaltRecord.objects.filter(pk=halt.pk).update(steps=[*halt.steps, {"step": UNWOUND_STEP, "positions": told}])
    assert [line.label for line in list_halt_exits(golem, now=NOW)] == ["a deep pool"]
    client = Client()
    client.force_login(golem.owner)
    text = client.get(page("archetypes_app.golem", "change", golem.pk)).content.decode()
    assert "a deep pool" in text and "a request ripens" in text and "nobody knows when" in text
