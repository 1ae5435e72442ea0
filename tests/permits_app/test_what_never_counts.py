"""A reward that nobody prices, and points: they add nothing, block nothing, and are told; what is put in counts."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.embedded.world.rpc import call_data
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import AllowlistChoice, suggest_allowlist
from permits_app.models import HaltRecord, HaltSetting, OutcomeRecord
from permits_app.models.allowlist import AllowlistKind
from permits_app.permits.holdings_json import tell_rules
from permits_app.policy_cage.suggested_rules import call_rules, list_subjects, list_uncaged
from permits_app.reviewers import safety_guardian
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_gauge.on_the_shelf import NAME, Gauge
from tests.permits_app.safety.calls import live_call
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import Holdings, measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.registry import REGISTRY

DAI, USD, DAY = 10**18, 10**6, 86_400
NO_SWAP = {"token_in": None, "token_out": None, "venue": NAME}


@pytest.fixture
def farmer(db: None, gauge: Gauge) -> LiveGolem:
    """A golem with every tool of the gauge, whose owner allowed what is suggested, and the reward."""
    golem = make_live_golem(gauge.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=golem.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    reward = AllowlistChoice(CHAIN_ID, AllowlistKind.TOKEN, gauge.reward, "The reward")
    choices = [*suggest_allowlist(CHAIN_ID), reward]
    allow_addresses(golem=golem.golem, choices=choices, actor="system:test", now=clock.now())
    return golem


def act(golem: LiveGolem, action: str, amount: int | None = None) -> dict[str, Any]:
    """Preview, review by who reads the bytes alone, and commit: the preview. What was promised is verified."""
    reviewed = safety_guardian.review(live_call(golem, action, {} if amount is None else {"amount": str(amount)}))
    assert not reviewed.reasons, reviewed
    permit = golem.preview(action_type=action, amount=None if amount is None else str(amount), **NO_SWAP)
    done = golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified
    return permit


def measure(golem: LiveGolem) -> Holdings:
    account = str(golem.golem.address)
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    return measure_holdings(chain=chain, account=account, hints=list_hints(chain_id=CHAIN_ID, account=account))


def tokens(golem: LiveGolem) -> int:
    """Micro-USD of everything but the coin, which pays gas."""
    held = measure(golem)
    assert held.is_complete
    return sum(each.micro_usd or 0 for each in held.tokens if each.token.symbol != "ETH") + sum(
        each.micro_usd or 0 for each in held.positions
    )


def test_a_reward_that_nobody_prices_adds_nothing_and_keeps_no_deposit_out(farmer: LiveGolem, gauge: Gauge) -> None:
    before = tokens(farmer)
    act(farmer, "gauge_deposit", 1_000 * DAI)
    gauge.pass_time(DAY)
    assert gauge.world.rpc.read(gauge.address, "earned(address)", farmer.golem.address, returns="(uint256)")[0] > DAI
    assert abs(tokens(farmer) - before) <= 2
    [held] = measure(farmer).positions
    assert held.micro_usd is not None and held.micro_usd > 990 * USD
    # With the reward grown, more may go in, and a part may come out.
    act(farmer, "gauge_deposit", 500 * DAI)
    act(farmer, "gauge_withdraw", 200 * DAI)
    assert abs(tokens(farmer) - before) <= 4


def test_a_reward_is_claimed_for_what_the_plan_says_of_it(farmer: LiveGolem, gauge: Gauge) -> None:
    act(farmer, "gauge_deposit", 1_000 * DAI)
    gauge.pass_time(DAY)
    before = tokens(farmer)
    permit = act(farmer, "gauge_claim")
    [said] = permit["expected_outcome"]["positions"]
    assert {each["symbol"] for each in said["changes"]} == {"RWD", "points"}
    paid = gauge.world.rpc.read(gauge.reward, "balanceOf(address)", farmer.golem.address, returns="(uint256)")[0]
    assert paid > 80_000 * DAI
    assert abs(tokens(farmer) - before) <= 2


@pytest.mark.parametrize("message", ["withdraw(uint256)", "claim()"])
def test_a_reward_that_calls_back_while_it_is_paid_takes_nothing_else(
    farmer: LiveGolem, gauge: Gauge, message: str
) -> None:
    act(farmer, "gauge_deposit", 1_000 * DAI)
    gauge.pass_time(DAY)
    gauge.call_back(message, *([100 * DAI] if "uint" in message else []))
    act(farmer, "gauge_claim")
    [held] = measure(farmer).positions
    assert held.position.raw_of(gauge.world.tokens["DAI"].address) == 1_000 * DAI


def test_what_is_put_in_cannot_be_called_something_that_never_counts(farmer: LiveGolem, gauge: Gauge) -> None:
    gauge.modules["tools"].SLIPS.add("uncounted")
    with pytest.raises(GolemError) as refused:
        act(farmer, "gauge_deposit", 1_000 * DAI)
    assert refused.value.data["rule"].startswith("simulator.position"), refused.value.data


def test_an_owner_reads_what_counts_as_nothing_and_why(farmer: LiveGolem, gauge: Gauge) -> None:
    act(farmer, "gauge_deposit", 1_000 * DAI)
    gauge.pass_time(DAY)
    [held] = measure(farmer).positions
    reward, points = tell_rules(held)
    assert "RWD count as nothing: a reward that nobody prices" in reward
    assert "points count as nothing: points, which nobody sells" in points
    farmer.owner.is_superuser = True
    farmer.owner.save()
    client = Client()
    client.force_login(farmer.owner)
    page = client.get(f"/admin/archetypes_app/golem/{farmer.golem.pk}/money/").content.decode()
    assert "count as nothing: a reward that nobody prices" in page


def test_what_no_valuer_counts_is_under_no_cage_and_named_on_the_page(farmer: LiveGolem, gauge: Gauge) -> None:
    assert not [each for each in list_subjects(farmer.golem, CHAIN_ID) if each in {"", gauge.address}]
    assert not call_rules(CHAIN_ID, {gauge.address}, valued=None)
    assert not call_rules(CHAIN_ID, {gauge.address}, valued={gauge.address})
    words = "The made-up gauge (simulated contract): what lies in the gauge is told by nobody but the gauge"
    assert [each for each in list_uncaged(farmer.golem, CHAIN_ID) if "made-up gauge" in each] == [words]
    farmer.owner.is_superuser = True
    farmer.owner.save()
    client = Client()
    client.force_login(farmer.owner)
    page = client.get(f"/admin/cage/{farmer.golem.pk}/").content.decode()
    assert "what lies in the gauge is told by nobody but the gauge" in page


def test_a_halt_takes_out_what_counts_and_waits_for_no_reward(farmer: LiveGolem, gauge: Gauge) -> None:
    before = farmer.balance("DAI")
    act(farmer, "gauge_deposit", 1_000 * DAI)
    gauge.pass_time(DAY)
    HaltSetting.objects.create(golem=farmer.golem, unwind_on_halt=True)
    golem = Golem.objects.get(pk=farmer.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    assert farmer.balance("DAI") == before
    assert HaltRecord.objects.get(golem=golem).completed_at is not None


def test_a_stranger_who_claims_is_paid_nothing_of_the_golems_reward(farmer: LiveGolem, gauge: Gauge) -> None:
    act(farmer, "gauge_deposit", 1_000 * DAI)
    gauge.pass_time(DAY)
    stranger = gauge.world.new_account(10**18, {})
    assert call_data("claim()") == "0x4e71d92d"
    gauge.world.transact(stranger, gauge.address, "claim()")
    assert gauge.world.rpc.read(gauge.reward, "balanceOf(address)", stranger.address, returns="(uint256)")[0] == 0
    act(farmer, "gauge_claim")
