"""A slash of whom a golem is delegated to is a loss with a name: a part of its own of its profit and loss, told to its
owners at once and once, and never taken for interest, for somebody's payment or for an outcome that broke its promise.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import tell_event
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.rpc import call_data
from permits_app.actions.value_golem import value_golem
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import NavSnapshot, OutboundTransaction, OutcomeRecord, VenueTrust
from permits_app.pages.portfolio_card import describe_change, read_portfolio_card
from permits_app.performance.csv_exports import list_profit
from permits_app.performance.nav_parts import Parts, sum_parts
from permits_app.performance.profit_days import read_worth
from tests.admin.rows import page
from tests.catalogue.door import Door
from tests.catalogue.stage import Stage
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.execution.test_lost_sequences import work_for_a_moment
from tests.tools_app.factories import call_tool, make_context
from tests.tools_app.protocols.eigenlayer.test_restaked import AT, DELAY, slash
from tools_app.core import clock
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent

WAD, USD = 10**18, 10**6
LATER = timedelta(minutes=11)
STRATEGY = AT["strategy_dai"]

pytestmark = pytest.mark.protocols("eigenlayer")


@pytest.fixture
def restaked(door: Door) -> Door:
    """A thousand dollars are restaked and delegated, and what it is worth was kept a moment ago."""
    door.do("eigenlayer_deposit_lst", "eigenlayer_delegate")
    value(door)
    return door


def value(door: Door, *, after: timedelta = timedelta()) -> Parts:
    """Its worth, kept; the parts of what changed."""
    rows = NavSnapshot.objects.filter(golem=door.agent.golem)
    count = rows.count()
    door.stage.world.rpc.call("evm_mine")
    assert value_golem(golem=door.agent.golem, now=clock.now() + after) is not None
    assert rows.count() == count + 1
    return Parts.from_json(rows.order_by("-at")[0].parts)


def act(door: Door, tool: str, **params: Any) -> None:
    """Its agent asks, whoever has to agrees, and what was promised is what came."""
    stage = door.stage
    found = {"eigenlayer_queue_withdrawal": "queue_withdrawal", "eigenlayer_undelegate": "undelegate"}[tool]
    permit = door.post("preview_action", {"action_type": found, "venue": "eigenlayer", **params})
    assert door.commit(permit)["status"] == "COMMITTED", stage
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified


def told(door: Door) -> list[dict[str, Any]]:
    rows = OutboxEvent.objects.filter(golem_id=door.agent.golem.pk, type=EventType.POSITION_SLASHED)
    return [dict(row.payload) for row in rows.order_by("sequence")]


def is_about(micro_usd: int, dollars: int) -> bool:
    """To the cent."""
    return abs(micro_usd - dollars * USD) <= USD // 100


def test_a_slash_is_a_part_of_its_own_and_its_owner_is_told_at_once_and_once(restaked: Door) -> None:
    door, golem = restaked, restaked.agent.golem
    slash(door.stage.world, WAD // 4)
    # Ten minutes are not over since the last value was kept: a slash does not wait for them.
    parts = value(door)
    assert is_about(parts.slashes, -250) and parts.profit == parts.slashes, parts
    (event,) = told(door)
    assert is_about(int(event["lost_micro_usd"]), 250) and event["left_bps"] == 7_500
    assert event["keeper"] == door.stage.positions()[0].facts["operator"]
    sentence, is_urgent = tell_event(EventType.POSITION_SLASHED, event, golem="Atlas")
    assert is_urgent and "DAI from what it has at EigenLayer" in sentence
    status = door.post("query_state", {"query": "wallet_status"})
    assert is_about(int(Decimal(status["data"]["profit_24h"]["slashes_usd"]) * USD), -250), status
    quiet = value(door, after=LATER)
    assert quiet == Parts() and len(told(door)) == 1
    worth = read_worth(golem_id=golem.pk, now=clock.now() + LATER)
    change = describe_change(worth, now=clock.now() + LATER)
    assert change is not None and [name for name, _ in change.parts] == ["slashes"]
    rows = list(list_profit(golem))
    slashed = sum(Decimal(str(row["slashes_usd"])) for row in rows)
    assert slashed == Decimal(str(rows[-1]["value_usd"])) - Decimal(str(rows[0]["value_usd"]))


def test_its_pages_say_what_a_slash_took_and_for_whose_faults(restaked: Door) -> None:
    door, golem = restaked, restaked.agent.golem
    slash(door.stage.world, WAD // 4)
    value(door)
    owner = Client()
    golem.owner.groups.add(ensure_owner_group())
    owner.force_login(golem.owner)
    this_month = f"?month={clock.now():%Y-%m}"
    text = owner.get(page("archetypes_app.golem", "statement", golem.pk) + this_month).content.decode()
    assert "What slashes took" in text and told(door)[0]["keeper"] in text
    assert "Slashes: what protocols took" in text
    card = read_portfolio_card(golem, now=clock.now())
    (held,) = card.positions
    assert any("slashes took" in line for line in held.counted), held


def test_a_tick_tells_a_slash_with_its_end(restaked: Door) -> None:
    door = restaked
    turn_on(door.agent.golem)
    slash(door.stage.world, WAD // 2)
    tick(door.agent.golem)
    (event,) = told(door)
    assert is_about(int(event["lost_micro_usd"]), 500)
    row = NavSnapshot.objects.filter(golem=door.agent.golem).order_by("-at")[0]
    assert is_about(Parts.from_json(row.parts).slashes, -500)


def test_two_looks_at_once_count_a_slash_once(restaked: Door) -> None:
    door, golem = restaked, restaked.agent.golem
    slash(door.stage.world, WAD // 4)
    at_once(lambda _: value_golem(golem=golem, now=clock.now() + LATER) and None, count=4)
    rows = NavSnapshot.objects.filter(golem=golem).order_by("at")
    whole = sum_parts(Parts.from_json(row.parts) for row in rows)
    first, last = rows[0], rows[len(rows) - 1]
    assert whole.profit + whole.moved == last.value_micro_usd - first.value_micro_usd
    assert is_about(whole.slashes, -250) and len(told(door)) == 1


@pytest.mark.parametrize("is_slashed_first", [True, False])
def test_who_queues_everything_between_two_looks_is_told_the_whole_slash(
    restaked: Door, is_slashed_first: bool
) -> None:
    door = restaked
    if is_slashed_first:
        slash(door.stage.world, WAD // 4)
    act(door, "eigenlayer_undelegate")
    if not is_slashed_first:
        slash(door.stage.world, WAD // 4)
    parts = value(door, after=LATER)
    assert is_about(parts.slashes, -250), parts
    assert is_about(parts.fees_and_interest, 0) and is_about(parts.moved, 0), parts


@pytest.mark.parametrize("case", ["eigenlayer_queue_withdrawal", "eigenlayer_undelegate"])
def test_a_slash_between_preview_and_commit_sends_nothing_and_the_same_asked_again_goes_through(
    restaked: Door, case: str
) -> None:
    door = restaked
    permit = door.preview(case)
    slash(door.stage.world, WAD // 4)
    assert door.commit(permit)["status"] == "BLOCKED", "it promised what was there before the slash"
    assert not OutcomeRecord.objects.exists() and not VenueTrust.objects.exists()
    again = door.preview(case)
    assert door.commit(again)["status"] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit_id=again["permit_id"]).is_verified
    parts = value(door, after=LATER)
    assert is_about(parts.slashes, -250) and is_about(parts.fees_and_interest, 0), parts


@pytest.mark.parametrize("wad", [WAD // 4, WAD])
@pytest.mark.parametrize("case", ["eigenlayer_queue_withdrawal", "eigenlayer_undelegate"])
def test_a_slash_in_the_block_of_the_withdrawal_is_no_outcome_that_broke_its_promise(
    restaked: Door, case: str, wad: int
) -> None:
    """The slash runs before the golem's call, which nobody could know when it was sent."""
    door, live = restaked, restaked.stage.live
    permit_id = str(door.preview(case)["permit_id"])
    with mining_paused(live.world):
        live.start(permit_id)
        work_for_a_moment(live, permit_id)
        sent = send_slash_first(door, wad)
    assert live.world.wait(sent)["status"] == "0x1"
    for _ in range(3):
        work_for_a_moment(live, permit_id)
        reconcile_transactions(now=clock.now())
    outcome = OutcomeRecord.objects.get(permit_id=UUID(permit_id))
    (payload,) = OutboundTransaction.objects.filter(permit_id=UUID(permit_id))
    assert payload.block_number == int(live.world.wait(sent)["blockNumber"], 16), "both lie in one block"
    assert outcome.is_verified and not VenueTrust.objects.exists(), outcome.findings
    parts = value(door, after=LATER)
    assert is_about(parts.slashes, -1_000 * wad // WAD) and is_about(parts.fees_and_interest, 0), parts


def send_slash_first(door: Door, wad: int) -> str:
    """A slash whose fee puts it before everything else that waits; the hash."""
    rpc, service = door.stage.world.rpc, derive_account("eigenlayer service").address
    operator = derive_account("eigenlayer operator").address
    signature = "slashOperator(address,(address,uint32,address[],uint256[],string))"
    data = call_data(signature, service, (operator, 0, [STRATEGY], [wad], "a test"))
    rpc.call("anvil_impersonateAccount", service)
    fees = {"maxFeePerGas": hex(10**12), "maxPriorityFeePerGas": hex(9 * 10**11)}
    request = {"from": service, "to": AT["magnitudes"], "data": data, "gas": hex(1_000_000), **fees}
    return str(rpc.call("eth_sendTransaction", request))


def test_a_part_that_waits_and_a_part_that_stays_are_slashed_each_for_itself(restaked: Door) -> None:
    door = restaked
    act(door, "eigenlayer_queue_withdrawal", strategies=[STRATEGY], shares=[str(400 * WAD)])
    value(door, after=LATER)
    slash(door.stage.world, WAD // 2)
    parts = value(door, after=2 * LATER)
    assert is_about(parts.slashes, -500), parts
    assert sorted(round(int(each["lost_micro_usd"]) / USD) for each in told(door)) == [200, 300]


def test_what_is_free_already_is_slashed_no_more(restaked: Door) -> None:
    door = restaked
    act(door, "eigenlayer_queue_withdrawal", strategies=[STRATEGY], shares=[str(400 * WAD)])
    door.stage.world.rpc.call("anvil_mine", hex(DELAY + 1))
    value(door, after=LATER)
    slash(door.stage.world, WAD // 2)
    parts = value(door, after=2 * LATER)
    assert is_about(parts.slashes, -300) and is_about(parts.fees_and_interest, 0), parts


def test_everything_slashed_is_a_whole_loss_and_no_error(restaked: Door) -> None:
    slash(restaked.stage.world, WAD)
    parts = value(restaked, after=LATER)
    assert is_about(parts.slashes, -1_000) and is_about(parts.profit, -1_000), parts
    (event,) = told(restaked)
    assert (event["left_bps"], event["symbol"]) == (0, "DAI")


def test_a_dearer_token_a_gift_and_a_slash_are_told_apart(restaked: Door) -> None:
    world = restaked.stage.world
    slash(world, WAD // 4)
    strategy = AT["strategy_dai"]
    giver = world.new_account(WAD, {"DAI": 10_000 * WAD})
    world.transact(giver, world.tokens["DAI"].address, "transfer(address,uint256)", strategy, 10_000 * WAD)
    parts = value(restaked, after=LATER)
    assert is_about(parts.slashes, -250) and parts.fees_and_interest > USD, parts
    assert parts.profit == parts.slashes + parts.fees_and_interest


def test_who_joins_an_operator_that_was_slashed_before_lost_nothing(door: Door) -> None:
    slash(door.stage.world, WAD // 4)
    door.do("eigenlayer_deposit_lst")
    value(door)
    door.do("eigenlayer_delegate")
    parts = value(door, after=LATER)
    assert is_about(parts.slashes, 0) and not told(door), parts
    more = call_tool(_context(door.stage), "eigenlayer_deposit_lst", token="DAI", amount=str(500 * WAD))
    door.stage.carry_out(more)
    parts = value(door, after=2 * LATER)
    assert parts.slashes == 0 and not told(door), parts


def _context(stage: Stage) -> Any:
    return make_context(stage.world, address=stage.account)
