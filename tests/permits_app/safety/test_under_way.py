"""Shares of the portfolio are judged with what other permits are about to change: of two at once, not both pass."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import override_settings
from psycopg import sql

from permits_app.actions.expire import fill_lapsed
from permits_app.actions.start_commit import start_commit
from permits_app.errors import PolicyRejected, TakenBeside
from permits_app.hook_rejection import Reject
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.safety.call_records import OpenSpend, UnderWay
from permits_app.safety.hook import Allow
from permits_app.safety.hooks.policy_cage import CageRows, load_holdings
from permits_app.safety.load_call_records import NAMED_PERMITS, RecordReader, read_records
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.safety.calls import SWAP_TOOL, live_call, open_position, swap_call
from tests.permits_app.safety.test_policy_cage import HOOK, measure, set_cage
from tools_app.core import clock
from tools_app.toolkit.enums import ActionClass


def test_of_two_swaps_at_once_not_both_pass_one_concentration(live_golem: LiveGolem) -> None:
    """Each fits by itself; neither is mined when the other is judged."""
    portfolio = measure(live_golem, SWAP_TOOL.name, {"token_in": "USDC", "token_out": "WETH", "amount": "1000000000"})
    [held] = [value for asset, value in portfolio.before.items() if portfolio.names[asset] == "WETH"]
    most_bps = (held + 1_500_000_000) * 10_000 // portfolio.total_before
    set_cage(live_golem, max_concentration_bps=most_bps)
    first, second = (live_golem.preview(amount=str(1_000_000_000 + number))["permit_id"] for number in range(2))
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        live_golem.start(first)
        live_golem.work(first)
        live_golem.start(second)
        live_golem.work(second)
        refused = live_golem.permit(second)
        assert refused.status == PermitStatus.BLOCKED
        assert (refused.problem["rule"], refused.problem["recovery"]) == ("policy_cage.max_concentration", "WAIT")
        assert refused.problem["retry_after_seconds"] == 5
        assert refused.problem["detail"].startswith("with what is under way already, WETH would be")
        with pytest.raises(PolicyRejected, match="with what is under way already"):
            live_golem.preview(amount="1000000002")
        # What is small enough beside the first passes meanwhile.
        assert live_golem.preview(amount="100000000")["permit_id"]
    live_golem.work(first)
    assert live_golem.permit(first).status == PermitStatus.COMMITTED
    with pytest.raises(PolicyRejected, match="^WETH would be"):
        live_golem.preview(amount="1000000002")


def test_two_additions_to_one_position_at_once_are_one_position(live_golem: LiveGolem, local_chain: World) -> None:
    position_id = open_position(live_golem, local_chain, amount1="1000000000")
    params = {"position_id": position_id, "amount1": "1000000000"}
    alone = measure(live_golem, "uniswap_lp_increase_liquidity", params)
    plan = live_call(live_golem, "uniswap_lp_increase_liquidity", params).plan
    assert plan is not None
    here = UnderWay(plan.spends, plan.receives, enters=True, position_id=position_id)
    both = measure(live_golem, "uniswap_lp_increase_liquidity", params, under_way=[here])
    # One part is in it; each of the two puts one on top.
    assert abs(both.position_after * 2 - 3 * alone.position_after) * 100 < alone.position_after
    assert (both.before, both.positions) == (alone.before, alone.positions)
    elsewhere = [replace(here, position_id=str(int(position_id) + 1)), replace(here, position_id="")]
    others = measure(live_golem, "uniswap_lp_increase_liquidity", params, under_way=elsewhere)
    assert (others.position_after, others.before) == (alone.position_after, alone.before)
    assert others.positions == alone.positions + 1


def test_what_is_under_way_is_read_of_the_permits_of_the_golem_alone(live_golem: LiveGolem) -> None:
    swap = live_golem.preview()["permit_id"]
    call = swap_call(live_golem, amount="100000000")
    assert read_records(call).under_way == ()
    live_golem.start(swap)
    [seen] = read_records(call).under_way
    assert call.plan is not None
    assert [flow.expected for flow in seen.spends] == [500_000_000]
    assert [flow.token.symbol for flow in seen.receives] == ["WETH"]
    assert (seen.enters, seen.position_id) == (False, "")
    assert read_records(replace(call, own_permit_id=UUID(swap))).under_way == ()
    assert read_records(replace(call, action_class=ActionClass.CLOSE_POSITION)).under_way == ()
    ActionPermit.objects.filter(pk=swap).update(chain_id=1)
    assert read_records(call).under_way == ()
    ActionPermit.objects.filter(pk=swap).update(chain_id=31337, halt_epoch=1)
    assert read_records(call).under_way == ()
    ActionPermit.objects.filter(pk=swap).update(halt_epoch=None, tool_name="uniswap_lp_add_liquidity")
    [seen] = read_records(call).under_way
    assert (seen.enters, seen.position_id) == (True, "")
    ActionPermit.objects.filter(pk=swap).update(params={"position_id": "7"})
    assert [each.position_id for each in read_records(call).under_way] == ["7"]
    ActionPermit.objects.filter(pk=swap).update(tool_name="a_tool_that_is_gone")
    assert [each.enters for each in read_records(call).under_way] == [False]


@pytest.mark.parametrize(
    ("status", "is_started"),
    [("CREATED", False), ("AWAITING_APPROVAL", False), ("ANNOUNCED", False), ("COMMITTING", True), ("UNKNOWN", True)],
)
def test_what_nobody_asked_to_carry_out_is_beside_a_call_and_not_under_way(
    live_golem: LiveGolem, status: str, is_started: bool
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    call = swap_call(live_golem, amount="100000000")
    bounds = {**live_golem.permit(permit_id).bounds, "changes": []}
    ActionPermit.objects.filter(pk=permit_id).update(bounds=bounds, status=status)
    records = read_records(call)
    assert [(each.permit_id, each.is_started, each.is_ended) for each in records.beside] == [
        (permit_id, is_started, False)
    ]
    assert [each.permit_id for each in records.under_way] == ([permit_id] if is_started else [])


def test_what_ended_in_a_block_after_the_one_that_is_judged_by_is_beside_it_and_not_under_way(
    live_golem: LiveGolem,
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    call = swap_call(live_golem, amount="100000000")
    assert live_golem.commit(permit_id)["status"] == PermitStatus.COMMITTED
    records = read_records(call)
    assert [(each.permit_id, each.is_started, each.is_ended) for each in records.beside] == [(permit_id, True, True)]
    assert records.under_way == ()
    later = swap_call(live_golem, amount="100000001")
    assert read_records(later).beside == (), "its block is in what is measured"
    ended_at = live_golem.permit(permit_id).finished_at
    assert ended_at is not None
    for after, is_seen in ((timedelta(minutes=10) - timedelta(microseconds=1), True), (timedelta(minutes=10), False)):
        assert bool(read_records(replace(call, now=ended_at + after)).beside) is is_seen
    # A promise that was signed goes on after its permit has ended.
    row = live_golem.permit(permit_id)
    ActionPermit.objects.filter(pk=permit_id).update(bounds={**row.bounds, "promise": {}})
    [seen] = read_records(call).under_way
    assert (seen.permit_id, seen.is_ended) == (permit_id, False)
    ActionPermit.objects.filter(pk=permit_id).update(status=PermitStatus.REVERTED)
    assert read_records(call).beside == ()


def test_what_refused_is_kept_as_the_holdings_of_that_moment_and_nothing_else_is(live_golem: LiveGolem) -> None:
    portfolio = measure(live_golem, SWAP_TOOL.name, {"token_in": "USDC", "token_out": "WETH", "amount": "1000000000"})
    [held] = [value for asset, value in portfolio.before.items() if portfolio.names[asset] == "WETH"]
    set_cage(live_golem, max_concentration_bps=(held + 1_500_000_000) * 10_000 // portfolio.total_before)
    live_golem.start(live_golem.preview(amount="1000000000")["permit_id"])
    large, small = (swap_call(live_golem, amount=amount) for amount in ("1000000001", "100000000"))
    refused, passed = (replace(call, records=RecordReader(call)) for call in (large, small))
    verdict = HOOK.check(refused)
    assert isinstance(verdict, Reject) and verdict.data["recovery"] == "WAIT"
    assert isinstance(HOOK.check(passed), Allow)
    holdings = load_holdings(refused)
    assert refused.records is not None and passed.records is not None
    assert HOOK.check(refused) == HOOK.decide(refused, CageRows(), holdings) == verdict
    assert refused.records.portfolio == holdings.with_others != holdings.portfolio
    assert passed.records.portfolio == load_holdings(passed).portfolio != load_holdings(passed).with_others
    assert HOOK.check(large) == verdict


def test_of_two_started_at_once_one_passes_and_the_other_waits_for_it(shared_golem: LiveGolem) -> None:
    """Both are committing before either is judged, in threads of their own; the earlier start passes."""
    portfolio = measure(shared_golem, SWAP_TOOL.name, {"token_in": "USDC", "token_out": "WETH", "amount": "1000000000"})
    [held] = [value for asset, value in portfolio.before.items() if portfolio.names[asset] == "WETH"]
    set_cage(shared_golem, max_concentration_bps=(held + 1_500_000_000) * 10_000 // portfolio.total_before)
    permits = [shared_golem.preview(amount=str(1_000_000_000 + number))["permit_id"] for number in range(2)]
    moment = clock.now()
    for permit_id in permits:
        # One moment for both: which of them was first is settled under the golem's lock.
        start_commit(golem=shared_golem.golem, permit_id=UUID(permit_id), actor="key:test", now=moment)
    gate = threading.Barrier(2)

    def work(permit_id: str) -> None:
        try:
            gate.wait(timeout=30)
            shared_golem.work(permit_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, permits))
    first, second = (shared_golem.permit(permit_id) for permit_id in permits)
    assert first.status == PermitStatus.COMMITTED
    if second.problem.get("waits_for") is None:
        # The first was mined before the second was judged: then the holdings themselves say no.
        assert second.problem["rule"] == "policy_cage.max_concentration"
        return
    assert (second.problem["recovery"], second.problem["waits_for"]) == ("WAIT", [permits[0]])
    assert second.problem["retry_after_seconds"] == 5


def test_hundreds_of_open_swaps_are_one_sum_to_the_next_preview(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem, amount="100000000")
    assert call.plan is not None
    first = live_golem.permit(live_golem.preview()["permit_id"])
    copy_permit(first, 300)
    records = read_records(call)
    assert records.beside == ()
    [spent] = records.open_spends
    assert (spent.token, spent.raw) == (call.plan.spends[0].token.address, 301 * 500_000_000)
    assert len(spent.permit_ids) == NAMED_PERMITS == 20 and str(first.pk) in spent.permit_ids
    # What is over, committed already or a halt's own is no longer open, and a commit asks for none of it.
    assert read_records(replace(call, own_permit_id=first.pk)).open_spends == ()
    rows = ActionPermit.objects.exclude(pk=first.pk)
    a_moment = timedelta(microseconds=1)
    for now, open_now in ((first.expires_at - a_moment, (spent,)), (first.expires_at, ())):
        assert read_records(replace(call, now=now)).open_spends == open_now
    for change in ({"halt_epoch": 1}, {"chain_id": 1}, {"status": "EXPIRED"}):
        rows.update(**change)
        assert read_records(call).open_spends == (OpenSpend(spent.token, 500_000_000, (str(first.pk),)),), change
        rows.update(halt_epoch=None, chain_id=31337, status="CREATED")


def test_open_swaps_that_spend_more_together_than_the_account_has_are_refused_with_those_it_waits_for(
    live_golem: LiveGolem,
) -> None:
    first = live_golem.permit(live_golem.preview()["permit_id"])
    # With the one that is asked for next it is more than there is.
    copy_permit(first, live_golem.balance("USDC") // 500_000_000 - 1)
    with pytest.raises(TakenBeside) as refused:
        live_golem.preview(amount="500000001")
    assert refused.value.data["rule"] == "simulator.level_balance"
    assert str(first.pk) in refused.value.data["waits_for"]
    assert len(refused.value.data["waits_for"]) <= NAMED_PERMITS
    ActionPermit.objects.exclude(pk=first.pk).update(status=PermitStatus.CANCELLED)
    assert live_golem.preview(amount="500000001")["permit_id"]


def test_a_preview_looks_through_the_open_permits_of_no_other_golem(live_golem: LiveGolem) -> None:
    """They are found by the golem: a crowd of another owner's permits costs this one nothing."""
    with connection.cursor() as cursor:
        # Which index is taken is asked: a table of one page is rightly read whole, and planned anew as it grows.
        cursor.execute("DISCARD PLANS")
        cursor.execute("SET enable_seqscan = off")
        copy_permit(live_golem.permit(live_golem.preview()["permit_id"]), 1_000)
        found = fill_lapsed(golem_id=uuid4(), now=clock.now())
        # Planned by the preview above, when there was hardly a row, as in the life of every connection.
        execute = found.statement.write_out(
            found.values, lambda value: sql.Literal(value).as_string(cursor.cursor), is_prepared=True
        )
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {execute}")
        (told,) = cursor.fetchone()
        cursor.execute("RESET enable_seqscan")
        cursor.execute("DISCARD PLANS")
    assert count_looked_at(told[0]["Plan"]) < 10, told


def copy_permit(permit: ActionPermit, count: int) -> None:
    """So many open permits that ask for the same."""
    columns = {field.attname: getattr(permit, field.attname) for field in ActionPermit._meta.concrete_fields}
    ActionPermit.objects.bulk_create(ActionPermit(**{**columns, "id": uuid4()}) for _ in range(count))
    latest = permit.created_at + timedelta(microseconds=1)
    ActionPermit.objects.exclude(pk=permit.pk).update(created_at=latest)


def count_looked_at(plan: dict[str, Any]) -> int:
    """Rows of a plan that were taken or thrown away."""
    own = plan.get("Actual Rows", 0) + plan.get("Rows Removed by Filter", 0)
    return int(own * plan.get("Actual Loops", 1)) + sum(map(count_looked_at, plan.get("Plans", [])))
