"""What an owner does to a heartbeat, in the browser and in words; and what other owners cannot."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import AlertBatch, Golem, Heartbeat
from golem_project.heartbeat.errors import HeartbeatOff, SteersPending
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.owner_controls import steer_golem, tick_soon
from tests.factories.golems import make_golem, make_owner
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry


@pytest.fixture
def owner(db: None) -> Any:
    return make_owner(name="ana")


@pytest.fixture
def golem(owner: Any) -> Golem:
    return make_golem(name="Keeper", owner=owner)


@pytest.fixture
def browser(owner: Any, client: Client) -> Client:
    client.force_login(owner)
    return client


TYPED = {
    "token_a": "WETH",
    "token_b": "USDC",
    "fee_tier": "500",
    "half_width_bps": "3",
    "target_micro_usd": "800",
    "harvest_micro_usd": "0.50",
}


def _form(golem: Golem, **changes: Any) -> dict[str, Any]:
    form = {
        "golem": str(golem.pk),
        "is_on": "on",
        "planner": "RULE",
        "base_interval_seconds": "30",
        **TYPED,
    }
    return {name: value for name, value in {**form, **changes}.items() if value is not None}


def _opened(browser: Client, page: str) -> str:
    """What a page sends along: the row as it shows it."""
    return str(browser.get(page).context["adminform"].form["opened_as"].value())


def test_an_owner_turns_a_heartbeat_on_and_off(browser: Client, golem: Golem) -> None:
    begun, interval = clock.now(), timedelta(seconds=30)
    added = browser.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem))
    assert added.status_code == 302, added.context["errors"]
    heartbeat = Heartbeat.objects.get(golem=golem)
    assert heartbeat.is_on and heartbeat.liquidity_rule == LiquidityRule(**dict[str, Any](RULE)).as_json()
    assert begun <= heartbeat.next_tick_at <= clock.now() + interval
    assert not golem.is_live, "a heartbeat that is turned on rehearses until its owner says otherwise"
    page = reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])
    assert "rehearses" in browser.get(page).content.decode().lower()
    assert browser.post(page, _form(golem, is_on=None, opened_as=_opened(browser, page))).status_code == 302
    heartbeat.refresh_from_db()
    assert not heartbeat.is_on
    edits = AuditEntry.objects.filter(golem_id=golem.pk, event="AdminEdit").order_by("seq")
    assert [each.data["did"] for each in edits] == ["added", "changed"]


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"token_b": ""}, "token_b"),
        ({"fee_tier": "7"}, "fee_tier"),
        ({"half_width_bps": "0.01"}, "half_width_bps"),
        ({"target_micro_usd": "a lot"}, "target_micro_usd"),
        ({"slippage_bps": "90"}, "slippage_bps"),
    ],
)
def test_a_rule_that_is_not_complete_is_refused_at_its_field(
    browser: Client, golem: Golem, typed: dict[str, str], wrong: str
) -> None:
    answer = browser.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem, **typed))
    assert answer.status_code == 200 and list(answer.context["adminform"].form.errors) == [wrong]
    assert not Heartbeat.objects.exists()


def test_without_tokens_there_is_no_rule_and_what_is_left_empty_is_the_default(browser: Client, golem: Golem) -> None:
    page = reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])
    browser.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem, token_a="", token_b=""))
    assert Heartbeat.objects.get(golem=golem).liquidity_rule == {}
    browser.post(page, _form(golem, target_micro_usd="", slippage_bps="", opened_as=_opened(browser, page)))
    kept = LiquidityRule(**Heartbeat.objects.get(golem=golem).liquidity_rule)
    assert (kept.target_micro_usd, kept.slippage_bps, kept.half_width_bps) == (500_000_000, 50, 300)
    shown = browser.get(page).context["adminform"].form
    assert (shown["target_micro_usd"].value(), shown["half_width_bps"].value()) == ("500.00", "3")


@pytest.mark.parametrize(
    "moved", [{"is_on": None}, {"base_interval_seconds": "60"}, {"target_micro_usd": "700.00"}], ids=str
)
def test_a_heartbeat_that_moved_since_its_page_was_opened_is_not_set_back(
    browser: Client, golem: Golem, moved: dict[str, str | None]
) -> None:
    page = reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])
    browser.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem))
    first, second = _opened(browser, page), _opened(browser, page)
    assert browser.post(page, _form(golem, opened_as=first, **moved)).status_code == 302
    kept = Heartbeat.objects.values().get(golem=golem)
    answer = browser.post(page, _form(golem, base_interval_seconds="90", opened_as=second))
    assert answer.status_code == 200 and "in another tab" in answer.content.decode()
    assert 'value="90"' in answer.content.decode(), "what was typed is still there"
    assert Heartbeat.objects.values().get(golem=golem) == kept


def test_another_owner_sees_nothing_of_it(client: Client, golem: Golem) -> None:
    Heartbeat.objects.create(golem=golem, is_on=True)
    AlertBatch.objects.create(golem=golem, window_start=clock.now(), created_at=clock.now())
    ben = make_owner(name="ben")
    client.force_login(ben)
    for model in ("heartbeat", "heartbeattick", "decisioncyclerecord", "alertbatch"):
        page = client.get(reverse(f"admin:archetypes_app_{model}_changelist"))
        assert page.status_code == 200 and "Keeper" not in page.content.decode()
    page_of_golem = reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])
    assert client.get(page_of_golem).status_code == 404
    added = client.post(reverse("admin:archetypes_app_heartbeat_add"), _form(golem))
    assert added.status_code == 200 and Heartbeat.objects.count() == 1


def test_the_owners_words_make_the_next_tick_think_and_are_used_once(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem, rule={}, is_live=False)
    tick(golem)
    steer_golem(golem=golem, text="  Leave the pool before Friday. ", actor="owner:1", now=clock.now())
    record = tick(golem)
    assert record.tier == "T2" and "the owner's words" in record.gating_reason
    assert record.interventions[0]["text"] == "Leave the pool before Friday."
    assert AuditEntry.objects.get(golem_id=golem.pk, event="GolemSteered").actor == "owner:1"
    assert tick(golem).tier == "T0"


def test_an_owner_says_a_word_and_asks_for_a_tick_in_the_browser(browser: Client, golem: Golem) -> None:
    Heartbeat.objects.create(golem=golem, is_on=True, next_tick_at=clock.now() + timedelta(seconds=50))
    for name in ("steer", "tick_now"):
        page = reverse(f"admin:archetypes_app_heartbeat_{name}", args=[golem.pk])
        assert browser.get(page).status_code == 200
        assert Heartbeat.objects.get(golem=golem).pending_steers == [] or name == "tick_now"
        assert browser.post(page, {"text": "Be careful."}).status_code == 302
    heartbeat = Heartbeat.objects.get(golem=golem)
    assert [each["text"] for each in heartbeat.pending_steers] == ["Be careful."]
    assert heartbeat.next_tick_at <= clock.now()


def test_words_nobody_would_read_are_refused(golem: Golem) -> None:
    with pytest.raises(HeartbeatOff):
        steer_golem(golem=golem, text="hello", actor="owner:1", now=clock.now())
    with pytest.raises(HeartbeatOff):
        tick_soon(golem=golem, now=clock.now())
    Heartbeat.objects.create(golem=golem, is_on=True)
    with pytest.raises(InvalidParams):
        steer_golem(golem=golem, text="x" * 501, actor="owner:1", now=clock.now())
    for _ in range(5):
        steer_golem(golem=golem, text="again", actor="owner:1", now=clock.now())
    with pytest.raises(SteersPending) as full:
        steer_golem(golem=golem, text="again", actor="owner:1", now=clock.now())
    assert full.value.data["resets_at"] == Heartbeat.objects.get(golem=golem).next_tick_at.isoformat()


def test_every_decision_can_be_read_in_the_browser(browser: Client, golem: Golem) -> None:
    turn_on(golem, rule={}, is_live=False)
    record = tick(golem)
    listed = browser.get(reverse("admin:archetypes_app_decisioncyclerecord_changelist")).content.decode()
    assert record.gating_reason in listed
    page = browser.get(reverse("admin:archetypes_app_decisioncyclerecord_change", args=[record.pk]))
    assert "prediction_error_millionths" in page.content.decode()
    for name in ("archetypes_app_heartbeattick", "permits_app_actionrecord", "archetypes_app_alertbatch"):
        assert browser.get(reverse(f"admin:{name}_changelist")).status_code == 200
