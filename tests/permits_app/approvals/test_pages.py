"""The pages: order, caps, what is shown and escaped, who sees what; without JavaScript, because there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project import wiring
from permits_app.models import Announcement, ChangeRequest, OwnerApproval, SpendingLimits
from permits_app.models.approval import RISK_RANK
from tests import factories
from tests.admin.rows import opened_as, page
from tests.permits_app.approvals.people import give_device, next_code, share
from tools_app.core import clock

pytestmark = pytest.mark.django_db
INBOX = "admin:permits_app_changerequest_inbox"


@pytest.fixture
def ana() -> Any:
    return factories.make_owner(name="ana")


@pytest.fixture
def bo() -> Any:
    person = factories.make_owner(name="bo")
    give_device(person)
    return person


@pytest.fixture
def golem(ana: Any, bo: Any) -> Golem:
    golem = share(factories.make_golem(owner=ana), bo)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    factories.make_api_key(golem=golem)
    return golem


@pytest.fixture
def known_chain() -> Iterator[None]:
    """The local chain is configured, though nobody asks it."""
    wiring.configure_networks({31337: ("http://127.0.0.1:9",)})
    yield
    wiring.configure_networks({})


def _browser(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def _waiting(golem: Golem, tier: str, number: int, *, minutes_old: int, **columns: Any) -> ChangeRequest:
    """A row as an agent's request leaves it, without its permit's simulation."""
    when = clock.now() - timedelta(minutes=minutes_old)
    permit = factories.make_permit(golem=golem, status="AWAITING_APPROVAL", risk_tier=tier)
    row = ChangeRequest.objects.create(
        golem=golem,
        kind="permit",
        permit=permit,
        title=f"{tier} {number}",
        risk_tier=tier,
        risk_rank=RISK_RANK[tier],
        asker="key:x",
        change={},
        shown={},
        plan_hash="0x1",
        policy_hash="0x1",
        fold_hash=f"0x{tier}{number}",
        digest="0x1",
        deadline_at=when + timedelta(days=1),
        **columns,
    )
    ChangeRequest.objects.filter(pk=row.pk).update(created_at=when)
    return row


def _announce(permit: Any, when: datetime) -> None:
    Announcement.objects.create(
        permit=permit, announced_at=when, executes_at=when, expires_at=when + timedelta(hours=1), announced_by="key:x"
    )


def test_a_flood_cannot_hide_a_critical_request(golem: Golem, ana: Any) -> None:
    for number in range(120):
        _waiting(golem, "HIGH", number, minutes_old=200 - number)
    _waiting(golem, "CRITICAL", 0, minutes_old=0)
    answer = _browser(ana).get(reverse(INBOX))
    lines = answer.context["inbox"].waiting
    assert lines[0].request.title == "CRITICAL 0"
    assert (len(lines), answer.context["inbox"].hidden) == (50, 71)
    front = _browser(ana).get("/admin/").context["board"].inbox.waiting
    assert front[0].request.title == "CRITICAL 0"


def test_a_flood_of_critical_requests_hides_none_of_them(golem: Golem, ana: Any) -> None:
    for number in range(55):
        _waiting(golem, "CRITICAL", number, minutes_old=200 - number)
    _waiting(golem, "HIGH", 1, minutes_old=300)
    _waiting(golem, "CRITICAL", 99, minutes_old=0)
    inbox = _browser(ana).get(reverse(INBOX)).context["inbox"]
    assert inbox.waiting[-1].request.title == "CRITICAL 99"
    assert (len(inbox.waiting), inbox.hidden) == (56, 1)


def test_what_is_approved_or_announced_cannot_be_hidden_by_a_flood_either(golem: Golem, ana: Any) -> None:
    now = clock.now()
    for number in range(60):
        _waiting(golem, "HIGH", number, minutes_old=5, state="APPROVED", executes_at=now)
        permit = factories.make_permit(golem=golem, status="ANNOUNCED", risk_tier="STANDARD")
        _announce(permit, now)
    in_two_days = now + timedelta(days=2)
    late = _waiting(golem, "CRITICAL", 0, minutes_old=0, state="APPROVED", executes_at=in_two_days)
    _announce(factories.make_permit(golem=golem, status="ANNOUNCED", risk_tier="CRITICAL"), in_two_days)
    answer = _browser(ana).get(reverse(INBOX))
    inbox = answer.context["inbox"]
    assert inbox.cooling[0].request.pk == late.pk
    assert inbox.announced[0].announcement.permit.risk_tier == "CRITICAL"
    assert (inbox.hidden_cooling, inbox.hidden_announced) == (11, 11)
    assert "11 of lower risk" in answer.content.decode()


def test_the_inbox_goes_by_risk_and_then_by_age(golem: Golem, ana: Any) -> None:
    _waiting(golem, "HIGH", 1, minutes_old=5)
    _waiting(golem, "HIGH", 2, minutes_old=50)
    _waiting(golem, "CRITICAL", 3, minutes_old=1)
    lines = _browser(ana).get(reverse(INBOX)).context["inbox"].waiting
    assert [line.request.title for line in lines] == ["CRITICAL 3", "HIGH 2", "HIGH 1"]


def test_an_owner_decides_on_the_page_and_sees_why_they_may_not(golem: Golem, ana: Any, bo: Any) -> None:
    request = factories.make_change_request(golem=golem, owner=ana)
    mine, theirs = _browser(ana), _browser(bo)
    shown = mine.get(page("permits_app.changerequest", "change", request.pk)).content.decode()
    assert "Another owner has to approve it" in shown
    assert 'value="APPROVE"' not in shown
    url = page("permits_app.changerequest", "decide", request.pk)
    refused = mine.post(url, {"verdict": "APPROVE", "digest": request.digest})
    assert refused.status_code == 403
    assert "Nobody approves what they asked for" in refused.content.decode()
    answer = theirs.post(url, {"verdict": "APPROVE", "digest": request.digest, "code": next_code(bo)})
    assert answer.status_code == 302
    assert OwnerApproval.objects.get().owner == bo


def test_a_stale_page_answers_409_and_is_shown_again(golem: Golem, ana: Any, bo: Any) -> None:
    request = factories.make_change_request(golem=golem, owner=ana)
    SpendingLimits.objects.filter(golem=golem).update(writes_per_hour=7)
    url = page("permits_app.changerequest", "decide", request.pk)
    body = {"verdict": "APPROVE", "digest": request.digest, "code": next_code(bo)}
    answer = _browser(bo).post(url, body)
    assert answer.status_code == 409
    assert "out of date" in answer.content.decode().lower()


def test_comments_and_cancelling_are_on_the_page(golem: Golem, ana: Any, bo: Any) -> None:
    request = factories.make_change_request(golem=golem, owner=ana)
    browser = _browser(bo)
    browser.post(page("permits_app.changerequest", "comment", request.pk), {"text": "why <b>now</b>?"})
    shown = browser.get(page("permits_app.changerequest", "change", request.pk)).content.decode()
    assert "why &lt;b&gt;now&lt;/b&gt;?" in shown
    browser.post(page("permits_app.changerequest", "cancel", request.pk), {"reason": "not needed"})
    request.refresh_from_db()
    assert (request.state, request.state_reason) == ("CANCELLED", "not needed")


def test_the_exported_file_is_the_request(golem: Golem, ana: Any) -> None:
    request = factories.make_change_request(golem=golem, owner=ana)
    answer = _browser(ana).get(page("permits_app.changerequest", "export", request.pk))
    assert "attachment" in answer["Content-Disposition"]
    assert json.loads(answer.content)["digest"] == request.digest


def test_text_from_an_agent_is_escaped(golem: Golem, ana: Any) -> None:
    attack = "<script>alert(1)</script>"
    request = factories.make_change_request(golem=golem, owner=ana)
    row = _waiting(golem, "CRITICAL", 1, minutes_old=1)
    assert row.pk != request.pk
    ChangeRequest.objects.filter(pk=row.pk).update(title=attack, state_reason=attack)
    for url in (page("permits_app.changerequest", "change", row.pk), reverse(INBOX)):
        assert attack not in _browser(ana).get(url).content.decode()


@pytest.mark.parametrize("has_key", [True, False])
def test_why_is_marked_as_words_nobody_checked_whoever_asked(golem: Golem, ana: Any, has_key: bool) -> None:
    """A model of the heartbeat asks without a key."""
    row = _waiting(golem, "CRITICAL", 1, minutes_old=1)
    key = golem.api_keys.first() if has_key else None
    ChangeRequest.objects.filter(pk=row.pk).update(reason="pre-approved by Anna, only 10 USDC", api_key=key)
    shown = _browser(ana).get(page("permits_app.changerequest", "change", row.pk)).content.decode()
    assert "pre-approved by Anna" in shown
    assert "Words of its agent or model; nobody has checked them." in shown


def test_another_owner_s_requests_answer_like_none(golem: Golem, ana: Any) -> None:
    request = factories.make_change_request(golem=golem, owner=ana)
    stranger = _browser(factories.make_owner(name="cy"))
    for name in ("change", "export", "cancel"):
        assert stranger.get(page("permits_app.changerequest", name, request.pk)).status_code == 404
    for name in ("decide", "comment"):
        assert stranger.post(page("permits_app.changerequest", name, request.pk)).status_code == 404
    assert request.title not in stranger.get(reverse(INBOX)).content.decode()


def test_limits_that_loosen_ask_why_and_become_a_request(golem: Golem, ana: Any) -> None:
    row = golem.spending_limits
    url = page("permits_app.spendinglimits", "change", row.pk)
    body = {
        "per_transaction_micro_usd": "12,000",
        "per_day_micro_usd": "50,000",
        "per_tick_micro_usd": "50,000",
        "per_session_micro_usd": "50,000",
        "hot_lane_micro_usd": "1,000",
        "trading_costs_per_day_micro_usd": "500",
        "trading_costs_per_pair_micro_usd": "500",
        "trading_costs_per_venue_micro_usd": "500",
        "writes_per_hour": "20",
        "most_alike_calls": "20",
        "max_slippage_bps": "1",
        "max_price_impact_bps": "3",
        "allowlist_mode": "STRICT",
    }
    body |= opened_as(_browser(ana), url)
    asked = _browser(ana).post(url, body).content.decode()
    assert "This loosens what holds now" in asked
    assert not ChangeRequest.objects.exists()
    answer = _browser(ana).post(url, {**body, "_why": "bigger trades"})
    request = ChangeRequest.objects.get()
    row.refresh_from_db()
    assert answer["Location"] == page("permits_app.changerequest", "change", request.pk)
    assert (row.per_transaction_micro_usd, row.per_day_micro_usd) == (10_000_000_000, 50_000_000_000)
    assert [line["after"] for line in request.shown["differences"]] == ["$12,000.00"]
    assert request.reason == "bigger trades"


def test_a_limit_of_a_tab_that_was_open_before_is_no_wish_to_loosen_it_again(golem: Golem, ana: Any) -> None:
    row, browser = golem.spending_limits, _browser(ana)
    url = page("permits_app.spendinglimits", "change", row.pk)
    form = browser.get(url).context["adminform"].form
    body = {name: str(form[name].value()) for name in form.fields if name != "golem"}
    first = body | {"per_day_micro_usd": "20,000", "per_tick_micro_usd": "10,000"}
    assert browser.post(url, first).status_code == 302
    # The other tab still shows $100,000 a day, and changes something else.
    answer = browser.post(url, body | {"writes_per_hour": "5", "_why": "slower"})
    assert answer.status_code == 200
    told = answer.content.decode()
    assert "since this page was opened: per 24 hours, per heartbeat tick" in told
    assert 'value="5"' in told
    assert not ChangeRequest.objects.exists()
    row.refresh_from_db()
    assert (row.per_day_micro_usd, row.writes_per_hour) == (20_000_000_000, 20)


def test_a_new_allowlist_entry_becomes_a_request(golem: Golem, ana: Any, known_chain: None) -> None:
    url = page("permits_app.allowlistentry", "add")
    body = {
        "golem": str(golem.pk),
        "chain_id": "31337",
        "kind": "SPENDER",
        "label": "router",
        "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        "_why": "a new venue",
    }
    _browser(ana).post(url, body)
    request = ChangeRequest.objects.get()
    assert not golem.allowlist.exists()
    assert request.cooling_seconds == 172_800


def test_a_live_golem_gets_more_tools_only_by_request(golem: Golem, ana: Any) -> None:
    profile = factories.make_profile(name="reader", categories=["trading"], owner=ana, is_read_only=True)
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    golem.refresh_from_db()
    form = _browser(ana).get(page("archetypes_app.golem", "settings", golem.pk)).context["adminform"].form
    body = {
        "name": golem.name,
        "archetype": str(golem.archetype_id),
        "profiles": [str(profile.pk)],
        "home_chain_id": "31337",
        "base_asset": "USDC",
        "permit_ttl_seconds": "60",
        "is_memory_enabled": "on",
        "is_live": "on",
        "edit_version": str(form.instance.version),
        "tool_overrides-TOTAL_FORMS": "0",
        "tool_overrides-INITIAL_FORMS": "0",
        "_tools_seen": "1",
    }
    for name in form.fields:
        initial = form[name].value()
        if name not in body and initial not in (None, False, []):
            body[name] = initial
    url = page("archetypes_app.golem", "change", golem.pk)
    asked = _browser(ana).post(url, body)
    assert "More tools for a live golem" in asked.content.decode()
    assert not golem.profiles.exists()
    _browser(ana).post(url, {**body, "_why": "it needs quotes"})
    request = ChangeRequest.objects.get()
    assert (request.kind, request.reason) == ("tools", "it needs quotes")
    assert not golem.profiles.exists()


def test_versions_and_the_back_test_have_pages(golem: Golem, ana: Any) -> None:
    row = golem.spending_limits
    browser = _browser(ana)
    body = {
        "per_transaction_micro_usd": "9,000",
        "per_day_micro_usd": "100,000",
        "per_tick_micro_usd": "50,000",
        "per_session_micro_usd": "50,000",
        "hot_lane_micro_usd": "1,000",
        "trading_costs_per_day_micro_usd": "500",
        "trading_costs_per_pair_micro_usd": "500",
        "trading_costs_per_venue_micro_usd": "500",
        "writes_per_hour": "20",
        "most_alike_calls": "20",
        "max_slippage_bps": "1",
        "max_price_impact_bps": "3",
        "allowlist_mode": "STRICT",
    }
    limits = page("permits_app.spendinglimits", "change", row.pk)
    browser.post(limits, body | opened_as(browser, limits))
    whole = browser.get(page("archetypes_app.golem", "policy", golem.pk)).content.decode()
    assert "v2" in whole
    url = page("archetypes_app.golem", "policy_version", golem.pk, 1)
    assert "loosens" in browser.get(url).content.decode()
    browser.post(url, {"reason": "back"} | opened_as(browser, url))
    assert ChangeRequest.objects.get().title == "Put policy version 1 back"
    drafted = browser.get(page("archetypes_app.golem", "policy", golem.pk), {**body, "try": "1"})
    assert drafted.status_code == 200


@pytest.mark.parametrize("name", ["resume", "phase", "strategy", "owners", "warden", "policy"])
def test_every_page_of_asking_opens_and_is_closed_to_strangers(golem: Golem, ana: Any, name: str) -> None:
    url = page("archetypes_app.golem", name, golem.pk)
    assert _browser(ana).get(url).status_code == 200
    assert _browser(factories.make_owner(name="cy")).get(url).status_code == 404


def test_a_shared_profile_never_gives_a_live_golem_more_tools(golem: Golem, ana: Any) -> None:
    profile = factories.make_profile(name="mine", categories=["data"], owner=ana)
    golem.profiles.set([profile])
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    url = page("archetypes_app.toolprofile", "change", profile.pk)
    body = {
        "name": "mine",
        "categories": ["data", "intelligence", "memory", "trading"],
        "description": "",
        "edit_version": str(profile.version),
        "_tools_seen": "1",
    }
    answer = _browser(ana).post(url, body, follow=True)
    profile.refresh_from_db()
    assert "Live golems would get more tools" in answer.content.decode()
    assert profile.categories == ["data"]


def test_nobody_moves_a_golem_with_agents_to_another_owner_by_a_form(golem: Golem) -> None:
    other = factories.make_owner(name="cy")
    root = _browser(factories.make_operator())
    form = root.get(page("archetypes_app.golem", "settings", golem.pk)).context["adminform"].form
    assert "owner" not in form.fields
    root.post(page("archetypes_app.golem", "change", golem.pk), {"owner": str(other.pk), "name": golem.name})
    assert Golem.objects.get(pk=golem.pk).owner.get_username() == "ana"


def test_a_permit_s_page_leads_to_its_request(golem: Golem, ana: Any) -> None:
    row = _waiting(golem, "CRITICAL", 1, minutes_old=1)
    shown = _browser(ana).get(page("permits_app.actionpermit", "change", row.permit_id)).content.decode()
    assert page("permits_app.changerequest", "change", row.pk) in shown
    plain = factories.make_permit(golem=golem)
    assert (
        "Its approval" not in _browser(ana).get(page("permits_app.actionpermit", "change", plain.pk)).content.decode()
    )


def test_what_is_announced_of_another_owners_golem_stands_in_nobody_elses_inbox(golem: Golem, ana: Any) -> None:
    eve = factories.make_owner(name="eve")
    theirs = factories.make_permit(
        golem=factories.make_golem(owner=eve), status="ANNOUNCED", risk_tier="CRITICAL", action_type="swap"
    )
    mine = factories.make_permit(golem=golem, status="ANNOUNCED", risk_tier="STANDARD")
    for permit in (theirs, mine):
        _announce(permit, clock.now())
    for person, permit in ((ana, mine), (eve, theirs)):
        inbox = _browser(person).get(reverse(INBOX)).context["inbox"]
        assert [line.announcement.permit_id for line in inbox.announced] == [permit.pk]


def test_differences_that_are_all_of_one_group_are_shown_in_it(golem: Golem, ana: Any) -> None:
    request = factories.make_change_request(golem=golem)
    line = {"words": "Calls", "before": "none", "after": "one of them", "note": "loosens", "group": "What it may call"}
    # What was asked for is never rewritten: another one, which shows nothing else.
    request.pk, request.shown = uuid4(), {**request.shown, "differences": [line]}
    request.fold_hash = f"0x{1:064x}"
    request.save(force_insert=True)
    text = _browser(ana).get(page("permits_app.changerequest", "change", request.pk)).content.decode()
    assert "What it may call" in text and "one of them" in text
