"""What the proof of load looks at when it is over: it finds nothing where all is well, and each thing that is not."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from permits_app.limits import ledger
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction, OutcomeRecord
from permits_app.models.permit import PermitStatus
from tests.live_golem import LiveGolem
from tests.proof.loaded import checks
from tests.proof.loaded.jobs import draw_body
from tests.proof.loaded.people import Client
from tests.stand_in import serve_stand_in
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


@contextmanager
def busy_server(answer: Callable[[str, int], tuple[int, dict[str, Any]]]) -> Iterator[tuple[str, list[str]]]:
    """A server that answers each request by its tool and how often that was asked; its address, and what was asked."""
    asked: list[str] = []

    def count_and_answer(
        method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, Any], dict[str, str]]:
        tool = path.rpartition("/")[2]
        asked.append(tool)
        return *answer(tool, asked.count(tool)), {"Retry-After": "0"}

    with serve_stand_in(count_and_answer) as url:
        yield url, asked


def act_once(url: str) -> Client:
    client, is_over = Client(url, "t"), threading.Event()
    bodies = iter([client.next_body()])

    def body_once() -> dict[str, Any]:
        is_over.set()
        return next(bodies)

    client.next_body = body_once  # type: ignore[method-assign]
    client.run(is_over)
    return client


PERMIT: dict[str, Any] = {"permit_id": "p", "status": "CREATED", "problem": {}}
COMMITTED: dict[str, Any] = {"permit": {**PERMIT, "status": "COMMITTED"}}


def refuse(code: str, recovery: str) -> dict[str, Any]:
    return {"code": code, "recovery": recovery, "detail": ""}


def test_who_is_told_to_wait_asks_the_same_again_and_that_is_no_finding() -> None:
    def answer(tool: str, times: int) -> tuple[int, dict[str, Any]]:
        if times <= 2:
            return 429, refuse("TOO_MANY_WAITING_HERE", "WAIT")
        return 200, PERMIT if tool == "preview_action" else COMMITTED

    with busy_server(answer) as (url, asked):
        client = act_once(url)
    assert (client.failures, client.statuses) == ([], {"COMMITTED": 1})
    assert asked == ["preview_action"] * 3 + ["commit_action"] * 3


@pytest.mark.parametrize(("status", "code"), [(503, "COMMIT_NOT_SIGNED"), (403, "CAP_EXPIRED")])
def test_a_wish_whose_permit_was_over_is_previewed_again_and_what_stays_so_is_a_finding(status: int, code: str) -> None:
    def answer(tool: str, times: int, most: int) -> tuple[int, dict[str, Any]]:
        if tool == "preview_action":
            return 200, {**PERMIT, "permit_id": f"p{times}"}
        return (status, refuse(code, "PREVIEW_AGAIN")) if times <= most else (200, COMMITTED)

    with busy_server(lambda tool, times: answer(tool, times, 2)) as (url, asked):
        client = act_once(url)
    assert (client.failures, client.previewed_again) == ([], {"p1", "p2"})
    assert asked == ["preview_action", "commit_action"] * 3 and client.statuses == {"COMMITTED": 1}
    with busy_server(lambda tool, times: answer(tool, times, 99)) as (url, _):
        stuck = act_once(url)
    assert stuck.failures == [f"commit_action: {code} for 4 permits in a row of one wish"]


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (503, refuse("COMMIT_NOT_SIGNED", "ASK_OWNER")),
        (503, refuse("DATABASE_UNAVAILABLE", "WAIT")),
        (400, refuse("INVALID_PARAMS", "FIX_PARAMS")),
    ],
)
def test_any_other_refusal_is_a_finding_as_before(status: int, problem: dict[str, Any]) -> None:
    with busy_server(lambda tool, times: (status, problem)) as (url, asked):
        client = act_once(url)
    assert client.failures == [f"preview_action: {status} {problem['code']} "] and asked == ["preview_action"]


def test_a_permit_whose_wish_was_previewed_again_is_no_block_and_one_that_was_left_is(live_golem: LiveGolem) -> None:
    ids = [live_golem.golem.pk]
    again, left = (str(live_golem.preview(amount=str(10_000_000 + number))["permit_id"]) for number in range(2))
    blocked = {"status": PermitStatus.BLOCKED, "problem": {"code": "COMMIT_NOT_SIGNED"}}
    ActionPermit.objects.filter(pk__in=[again, left]).update(**blocked)
    assert dict(checks.find_blocks(ids, previewed_again={again})) == {"COMMIT_NOT_SIGNED": 1}
    assert dict(checks.find_blocks(ids, previewed_again={again, left})) == {}
