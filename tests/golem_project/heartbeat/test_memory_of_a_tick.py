"""What a golem remembers reaches its tick: by the situation, with its effect on what the rule planner proposes."""

from __future__ import annotations

import uuid
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from golem_project.heartbeat import memory_caution
from golem_project.heartbeat.memory_effect_sentences import tell_changes
from memory_app import embedding
from memory_app.actions.consolidate import consolidate
from memory_app.actions.embed_missing import embed_missing_insights, embed_missing_situations
from memory_app.actions.manage_insight import Operation, manage_insight
from memory_app.insights_for_situation import MOST_RECALLED, MOST_REPORTED, recall
from memory_app.models import Episode, Insight, SituationVector
from memory_app.models.insight import LEAST_EPISODES_TO_TUNE
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import make_due, tick, turn_on
from tests.live_golem import LiveGolem
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core import clock
from tools_app.core.required_value import require

MOVED: dict[str, Any] = {"prediction": {}, "outcome": {"status": "REVERTED", "revert_reason": "Too little received"}}
WELL: dict[str, Any] = {"prediction": {"amount_out": "1000"}, "outcome": {"amount_out": "1000"}}
ROUGH = [str(price * 10**18) for price in (3000, 2900, 3000, 2900, 3000)]


def warn_of(golem: Golem, *, tool: str, action: str, tokens: list[str], **given: Any) -> Insight:
    """Three real kinds of outcome become a warning, as consolidation makes it."""
    for _ in range(3):
        remember(
            golem,
            f"{action} {uuid.uuid4()}",
            permit_id=uuid.uuid4(),
            tool_name=tool,
            action_type=action,
            tokens=tokens,
            now=clock.now(),
            **(MOVED | given),
        )
    consolidate(golem_id=golem.pk, now=clock.now())
    return Insight.objects.filter(golem=golem).latest("created_at")


def make_rough(golem: Golem) -> None:
    """Prices as the golem's own ticks would have kept them in a rough market."""
    heart = Heartbeat.objects.get(golem=golem)
    Heartbeat.objects.filter(pk=heart.pk).update(state={**heart.state, "prices": ROUGH})


def actions_of(record: Any) -> list[tuple[str, str]]:
    return list(ActionRecord.objects.filter(tick_id=record.tick_id).values_list("action_type", "state"))


def test_a_warning_lets_an_opening_wait_while_the_market_is_rough_and_the_decision_says_so(
    live_golem: LiveGolem,
) -> None:
    golem = live_golem.golem
    warning = warn_of(golem, tool="uniswap_lp_add_liquidity", action="add_liquidity", tokens=["USDC", "WETH"])
    turn_on(golem)
    make_rough(golem)
    record = tick(golem)
    assert record.regime in ("VOLATILE", "CRISIS") and actions_of(record) == []
    assert f"add_liquidity waits, for memory warns: {warning.text}" in record.context_summary
    before = warning.access_count
    warning.refresh_from_db()
    assert warning.access_count == before
    Insight.objects.filter(pk=warning.pk).update(last_accessed_at=clock.now() - timedelta(hours=2))
    make_rough(golem)
    tick(golem)
    warning.refresh_from_db()
    assert warning.access_count == before + 1
    assert warning.stability_days == pytest.approx(7 * 1.5)


def test_what_comes_of_an_action_is_remembered_in_the_market_its_own_tick_saw(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    assert Heartbeat.objects.get(golem=golem).regime == "NORMAL"
    make_rough(golem)
    record = tick(golem)
    assert record.regime in ("VOLATILE", "CRISIS") and actions_of(record) == [("add_liquidity", "EXECUTED")]
    assert Episode.objects.get(golem=golem).outcome["regime"] == record.regime


def test_successes_in_a_calm_market_take_nothing_from_a_warning_of_a_rough_one(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    about: dict[str, Any] = {
        "tool": "uniswap_lp_add_liquidity",
        "action": "add_liquidity",
        "tokens": ["USDC", "WETH"],
    }
    warn_of(golem, **about, outcome={**MOVED["outcome"], "regime": "VOLATILE"})
    rough = Insight.objects.get(golem=golem, kind="WARNING")
    for _ in range(6):
        warn_of(golem, **about, **WELL)
    assert Insight.objects.get(golem=golem, kind="INSIGHT").confidence_percent > 60
    rough.refresh_from_db()
    assert rough.confidence_percent == 60 and "while the market was rough" in rough.text
    turn_on(golem)
    make_rough(golem)
    record = tick(golem)
    assert actions_of(record) == [] and f"memory warns: {rough.text}" in record.context_summary


@pytest.mark.django_db
@pytest.mark.parametrize("is_last_a_success", [True, False])
def test_where_most_failed_in_a_rough_market_the_warning_stands_whichever_came_last(is_last_a_success: bool) -> None:
    golem = make_golem()
    began = clock.now() - timedelta(hours=1)
    failed: dict[str, Any] = {**MOVED, "outcome": {**MOVED["outcome"], "regime": "VOLATILE"}}
    went_well: dict[str, Any] = {**WELL, "outcome": {**WELL["outcome"], "regime": "VOLATILE"}}
    ends = [failed, went_well] * 4
    for minute, end in enumerate([failed, *ends] if is_last_a_success else [*ends, failed]):
        at = began + timedelta(minutes=minute)
        remember(golem, f"swap {minute}", permit_id=uuid.uuid4(), now=at, **end)
    consolidate(golem_id=golem.pk, now=clock.now())
    percents = dict(Insight.objects.filter(golem=golem).values_list("kind", "confidence_percent"))
    assert (percents["WARNING"], percents["INSIGHT"]) == (60, 45)
    wish = memory_caution.RuleWish(
        "swap", "uniswap", "swap", {"token_in": "USDC", "token_out": "WETH"}, "WETH is missing for the position"
    )
    found = recall(golem_id=golem.pk, situation="volatile market", now=clock.now())
    regime = memory_caution.Regime.VOLATILE
    assert [each.wish_key for each in memory_caution.hold_back([wish], found, regime=regime, chain_id=31337)] == [
        "swap"
    ]


def test_successes_in_a_rough_market_do(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    about: dict[str, Any] = {
        "tool": "uniswap_lp_add_liquidity",
        "action": "add_liquidity",
        "tokens": ["USDC", "WETH"],
    }
    warn_of(golem, **about, outcome={**MOVED["outcome"], "regime": "VOLATILE"})
    rough = Insight.objects.get(golem=golem, kind="WARNING")
    warn_of(golem, **about, prediction=WELL["prediction"], outcome={**WELL["outcome"], "regime": "VOLATILE"})
    rough.refresh_from_db()
    assert rough.confidence_percent == 45
    turn_on(golem)
    make_rough(golem)
    assert actions_of(tick(golem)) == [("add_liquidity", "EXECUTED")]


def read_decision(golem: Golem, record: Any) -> str:
    """The words of the decision's page, as its owner reads them; what is folded beside them left out."""
    client = Client()
    golem.owner.groups.add(ensure_owner_group())
    client.force_login(golem.owner)
    page = client.get(reverse("admin:archetypes_app_decisioncyclerecord_change", args=[record.pk]))
    assert page.status_code == 200
    return unescape(page.content.decode().split("<details>")[0])


def test_the_page_of_a_decision_says_in_words_what_memory_held_back(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    warning = warn_of(golem, tool="uniswap_lp_add_liquidity", action="add_liquidity", tokens=["USDC", "WETH"])
    turn_on(golem)
    make_rough(golem)
    rough = read_decision(golem, tick(golem))
    assert f"Memory lets add liquidity wait until the market is calm. It remembers, 60% sure: {warning.text}." in rough
    assert "Nothing but the time of it changed, and no limit moved." in rough
    assert "It wanted nothing." not in rough
    Golem.objects.filter(pk=golem.pk).update(is_memory_enabled=False)
    make_rough(golem)
    assert "Memory" not in read_decision(golem, tick(golem)).split("In words")[1]


def test_the_page_of_a_decision_says_by_how_much_memory_changed_what_was_asked(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    for _ in range(LEAST_EPISODES_TO_TUNE):
        remember(
            golem,
            f"add_liquidity {uuid.uuid4()}",
            permit_id=uuid.uuid4(),
            tool_name="uniswap_lp_add_liquidity",
            action_type="add_liquidity",
            tokens=["USDC", "WETH"],
            now=clock.now(),
            **WELL,
        )
    consolidate(golem_id=golem.pk, now=clock.now())
    learned = Insight.objects.get(golem=golem, kind="HEURISTIC", parameter="slippage_bps")
    turn_on(golem)
    record = tick(golem)
    permit = require(ActionRecord.objects.get(tick_id=record.tick_id).permit)
    assert (learned.factor_bps, permit.params["slippage_bps"]) == (9_000, 45)
    assert (
        "Memory changed the slippage of add liquidity from 50 to 45 basis points, 10% less, because of 5 outcomes:"
        " slippage was tightened: like actions went as predicted. No limit moved."
    ) in read_decision(golem, record)


def test_an_outcome_is_remembered_with_the_market_it_happened_in(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    make_rough(golem)
    tick(golem)
    make_due(golem)
    tick(golem)
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    remember_outcome(permit_id=uuid.UUID(permit_id), now=clock.now())
    assert Episode.objects.get(permit_id=permit_id).outcome["regime"] in ("VOLATILE", "CRISIS")


def test_the_same_golem_without_memory_and_one_in_a_calm_market_open(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    warn_of(golem, tool="uniswap_lp_add_liquidity", action="add_liquidity", tokens=["USDC", "WETH"])
    turn_on(golem)
    Golem.objects.filter(pk=golem.pk).update(is_memory_enabled=False)
    make_rough(golem)
    record = tick(golem)
    assert record.context_summary == "nothing recalled"
    assert actions_of(record) == [("add_liquidity", "EXECUTED")]


def test_a_warning_lets_nothing_wait_in_a_calm_market(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    warn_of(golem, tool="uniswap_lp_add_liquidity", action="add_liquidity", tokens=["USDC", "WETH"])
    turn_on(golem)
    record = tick(golem)
    assert actions_of(record) == [("add_liquidity", "EXECUTED")]
    assert record.context_summary.startswith("recalled: uniswap_lp_add_liquidity")


@pytest.mark.parametrize(
    ("tool", "action", "tokens"),
    [
        ("uniswap_lp_add_liquidity", "add_liquidity", ["DAI", "WETH"]),
        ("uniswap_execute_swap", "swap", ["USDC", "WETH"]),
    ],
)
def test_what_was_learned_of_something_else_lets_nothing_wait(
    live_golem: LiveGolem, tool: str, action: str, tokens: list[str]
) -> None:
    golem = live_golem.golem
    warn_of(golem, tool=tool, action=action, tokens=tokens)
    turn_on(golem)
    make_rough(golem)
    assert actions_of(tick(golem)) == [("add_liquidity", "EXECUTED")]


def test_leaving_never_waits_for_a_memory(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    warn_of(golem, tool="uniswap_lp_remove_liquidity", action="remove_liquidity", tokens=["USDC", "WETH"])
    turn_on(golem)
    assert actions_of(tick(golem)) == [("add_liquidity", "EXECUTED")]
    Golem.objects.filter(pk=golem.pk).update(phase="TERMINAL")
    make_rough(golem)
    assert actions_of(tick(golem)) == [("remove_liquidity", "EXECUTED")]


@pytest.mark.django_db
def test_what_an_agent_only_says_makes_no_wish_wait() -> None:
    golem = make_golem()
    insight = warn_of(golem, tool="uniswap_lp_add_liquidity", action="add_liquidity", tokens=["USDC", "WETH"])
    Insight.objects.filter(pk=insight.pk).update(trust="REPORTED")
    found = recall(golem_id=golem.pk, situation="volatile market", now=clock.now())
    assert [each.pk for each in found] == [insight.pk] and not found[0].is_verified
    wish = memory_caution.RuleWish(
        "open", "uniswap", "add_liquidity", {"token0": "USDC", "token1": "WETH"}, "no position in the pool"
    )
    regime = memory_caution.Regime.VOLATILE
    assert memory_caution.hold_back([wish], found, regime=regime, chain_id=31337) == ()
    Insight.objects.filter(pk=insight.pk).update(trust="VERIFIED")
    known = recall(golem_id=golem.pk, situation="volatile market", now=clock.now())
    assert [each.wish_key for each in memory_caution.hold_back([wish], known, regime=regime, chain_id=31337)] == [
        "open"
    ]
    Insight.objects.filter(pk=insight.pk).update(is_quarantined=True)
    assert recall(golem_id=golem.pk, situation="volatile market", now=clock.now()) == ()


@pytest.mark.django_db
def test_the_situation_ranks_by_meaning_once_its_vector_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    for text in ("Vault shares redeem late on Mondays", "Pools of stable coins hardly ever move"):
        manage_insight(
            golem_id=golem.pk,
            operation=Operation.ADD,
            insight_id=None,
            content=text,
            category=None,
            chain_id=None,
            tokens=(),
            reason="",
            actor="owner:1",
            now=NOW,
        )
    Insight.objects.filter(golem=golem).update(trust="VERIFIED", confidence_percent=60)
    situation = "a currency pair without volatility"
    recall(golem_id=golem.pk, situation=situation, now=NOW)
    assert SituationVector.objects.get().embedding is None
    assert embed_missing_insights() == 2 and embed_missing_situations(now=NOW) == 1
    assert embedding.is_loaded()
    first = recall(golem_id=golem.pk, situation=situation, now=NOW)[0]
    assert first.text.startswith("Pools of stable coins")
    assert SituationVector.objects.count() == 1
    embed_missing_situations(now=NOW + timedelta(days=31))
    assert not SituationVector.objects.exists()


@pytest.mark.django_db
def test_whoever_writes_much_takes_two_places_and_a_faded_memory_falls_back() -> None:
    golem = make_golem()
    for index in range(8):
        Insight.objects.create(
            golem=golem,
            text=f"volatile market number {index}",
            confidence_percent=60,
            last_accessed_at=NOW,
            trust="VERIFIED" if index < 4 else "REPORTED",
            identity_hash=f"0x{index:064x}",
            stability_days=7,
        )
    found = recall(golem_id=golem.pk, situation="volatile market", now=NOW)
    assert len(found) == MOST_RECALLED and sum(not each.is_verified for each in found) == MOST_REPORTED
    best = found[0]
    Insight.objects.filter(pk=best.pk).update(last_accessed_at=NOW - timedelta(days=60))
    later = recall(golem_id=golem.pk, situation="volatile market", now=NOW)
    assert later[0].pk != best.pk
    assert {each.pk: each.score for each in later}.get(best.pk, 0.0) < best.score


def test_experience_with_a_tool_its_owner_brought_is_learned_from_and_harms_no_tick(live_golem: LiveGolem) -> None:
    """Such a tool is in no registry of the house."""
    golem = live_golem.golem
    warning = warn_of(golem, tool="own_swapper", action="swap", tokens=["USDC", "WETH"])
    assert warning.tool_name == "own_swapper" and warning.kind == "WARNING"
    turn_on(golem)
    make_rough(golem)
    assert actions_of(tick(golem)) == [("add_liquidity", "EXECUTED")]


def test_every_soft_parameter_is_told_with_what_it_was_and_an_older_permit_with_what_is_known() -> None:
    ids = ["a", "b"]
    [told] = tell_changes(
        "swap",
        {
            "changes": {"deadline": 450, "route": "v3:500"},
            "before": {"deadline": 300, "route": None},
            "behind": {"deadline": ids, "route": ids[:1]},
            "note": "the deadline was moved; a route was preferred",
        },
    )
    assert told == (
        "Memory changed the deadline of swap from 300 to 450 seconds, 50% more, because of 2 outcomes and route of swap"
        " to v3:500 where none was named, because of 1 outcome: the deadline was moved; a route was preferred."
        " No limit moved."
    )
    [older] = tell_changes("swap", {"changes": {"slippage_bps": 45}, "behind": {"slippage_bps": ids}, "note": "x"})
    assert older == "Memory changed the slippage of swap to 45 basis points, because of 2 outcomes: x. No limit moved."
    assert tell_changes("swap", {"changes": {}, "note": "this golem remembers nothing like it"}) == []
    assert tell_changes("swap", {}) == []
