"""What the proof of load looks at when it is over: it finds nothing where all is well, and each thing that is not."""

from __future__ import annotations

import random
from uuid import UUID

from django.db import transaction

from permits_app.limits import ledger
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction, OutcomeRecord
from permits_app.models.permit import PermitStatus
from tests.live_golem import LiveGolem
from tests.proof.loaded import checks
from tests.proof.loaded.jobs import draw_body
from tools_app.core import clock


def test_the_checks_find_what_a_load_may_have_broken(live_golem: LiveGolem) -> None:
    ids = [live_golem.golem.pk]
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    assert checks.wait_until_quiet(ids)
    assert (list(checks.find_broken(ids)), dict(checks.find_blocks(ids))) == ([], {})
    with transaction.atomic():
        ledger.reopen(permit_id=UUID(str(permit_id)), now=clock.now())
    NonceReservation.objects.filter(permit=permit_id, call_index=0).delete()
    OutboundTransaction.objects.filter(permit=permit_id, call_index=1).update(block_number=None)
    broken = "\n".join(checks.find_broken(ids))
    assert "is neither settled nor released" in broken
    assert "have gaps" in broken
    assert "not each of its calls is mined once" in broken


def test_a_block_counts_unless_an_owner_is_behind_it(live_golem: LiveGolem) -> None:
    ids = [live_golem.golem.pk]
    ours, theirs = (live_golem.preview(amount=str(10_000_000 + number))["permit_id"] for number in range(2))
    for permit_id, code in ((ours, "LEASE_LOST"), (theirs, "GOLEM_HALTED")):
        ActionPermit.objects.filter(pk=permit_id).update(status=PermitStatus.BLOCKED, problem={"code": code})
    assert dict(checks.find_blocks(ids)) == {"LEASE_LOST": 1}


def test_what_was_not_done_as_promised_is_a_finding_and_what_nobody_could_tell_apart_is_counted(
    live_golem: LiveGolem,
) -> None:
    ids = [live_golem.golem.pk]
    for amount in ("10000000", "20000000", "30000000"):
        live_golem.commit(live_golem.preview(amount=amount)["permit_id"])
    assert (list(checks.find_unverified(ids)), checks.count_untold(ids)) == ([], 0)
    one, two, _ = ActionPermit.objects.filter(golem=live_golem.golem).order_by("created_at")
    untold = "ETH: the balances do not tell how much of it moved"
    for permit, findings in ((one, [untold]), (two, [untold, "WETH: 1 arrived, the permit promised 2"])):
        replace_outcome(permit, findings)
    assert list(checks.find_unverified(ids)) == [
        "uniswap_execute_swap is not verified: WETH: 1 arrived, the permit promised 2"
    ]
    assert checks.count_untold(ids) == 1


def test_what_is_judged_together_is_no_finding_beside_a_tool_that_takes_all_there_is(live_golem: LiveGolem) -> None:
    ids = [live_golem.golem.pk]
    for amount in ("10000000", "20000000"):
        live_golem.commit(live_golem.preview(amount=amount)["permit_id"])
    one, other = ActionPermit.objects.filter(golem=live_golem.golem).order_by("created_at")
    replace_outcome(one, ["spark: -3 changed, the permits of these blocks promised at least -2"])
    takes_all = frozenset({"spark_withdraw"})
    ActionPermit.objects.filter(pk=other.pk).update(tool_name="spark_withdraw")
    assert len(list(checks.find_unverified(ids, takes_all))) == 1
    block = OutboundTransaction.objects.filter(permit=one).latest("block_number").block_number
    OutboundTransaction.objects.filter(permit=other).update(block_number=block)
    assert list(checks.find_unverified(ids, takes_all)) == []
    assert len(list(checks.find_unverified(ids, frozenset({"aave_withdraw"})))) == 1


def test_where_the_chain_is_killed_as_many_trades_as_were_under_way_may_lack_their_balances_and_no_more(
    live_golem: LiveGolem,
) -> None:
    ids = [live_golem.golem.pk]
    for amount in ("10000000", "20000000", "30000000"):
        live_golem.commit(live_golem.preview(amount=amount)["permit_id"])
    one, two, three = ActionPermit.objects.filter(golem=live_golem.golem).order_by("created_at")
    gone = ["no balances tell what this permit moved", "the balances of its blocks could not be read"]
    replace_outcome(one, gone)
    replace_outcome(two, gone)
    assert len(list(checks.find_unverified(ids))) == 2
    assert len(list(checks.find_unverified(ids, most_without_past=1))) == 1
    assert list(checks.find_unverified(ids, most_without_past=2)) == []
    replace_outcome(three, [*gone, "WETH: 1 arrived, the permit promised 2"])
    assert len(list(checks.find_unverified(ids, most_without_past=3))) == 1


def replace_outcome(permit: ActionPermit, findings: list[str]) -> None:
    """As if it had been judged so: an outcome is never rewritten, so the one there is counts as taken back."""
    told = OutcomeRecord.live.get(permit=permit)
    OutcomeRecord.objects.filter(pk=told.pk).update(taken_back_at=clock.now())
    OutcomeRecord.objects.create(
        permit=permit, is_verified=False, findings=findings, ground_truth_source=told.ground_truth_source
    )


def test_a_job_is_a_body_of_its_own_and_liquidity_is_taken_back_only_where_some_was_given() -> None:
    bodies = [draw_body(random.Random(seed), []) for seed in range(60)]
    assert not any("position_id" in body for body in bodies)
    assert len({(body["action_type"], body["venue"]) for body in bodies}) >= 15
    given = [draw_body(random.Random(seed), ["7"]) for seed in range(200)]
    assert {body["position_id"] for body in given if "position_id" in body} == {"7"}
