"""A halt leaves what is restaked through the queue of blocks: its owner reads until when it waits, and whatever happens
to it meanwhile (a slash, a pause, an operator who puts it out, a key used elsewhere) is told and loses nothing more.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.halt import halt_golem, list_unfinished_halts
from permits_app.actions.value_golem import value_golem
from permits_app.limits.pending_requests import MISSED_FOR
from permits_app.models import HaltRecord, HaltSetting, NavSnapshot, OutcomeRecord, PendingRequest, VenueTrust
from permits_app.models.pending_request import RequestState
from permits_app.performance.nav_parts import Parts, sum_parts
from tests.admin.rows import page
from tests.catalogue.door import Door
from tests.live_golem import LiveGolem
from tests.permits_app.test_staked_halt import carry_out
from tests.tools_app.protocols.eigenlayer.test_restaked import AT, COMPLETE, DELAY, restaked, slash
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent

WAD = 10**18
DAI = 1_000 * WAD
NO_QUEUE, NO_EXIT = 2, 4

pytestmark = pytest.mark.protocols("eigenlayer")


@pytest.fixture
def live(door: Door) -> LiveGolem:
    """Its agent restaked a thousand dollars and delegated them, over REST and as its owners approved."""
    for case in ("eigenlayer_deposit_lst", "eigenlayer_delegate"):
        assert door.commit(door.preview(case))["status"] == "COMMITTED"
    return door.stage.live


def halt(live: LiveGolem) -> dict[str, Any]:
    HaltSetting.objects.create(golem=live.golem, unwind_on_halt=True)
    halt_golem(golem=live.golem, reason="drained", actor="owner:1", now=clock.now())
    return carry_out(live)


def is_done() -> bool:
    return HaltRecord.objects.get().completed_at is not None


def follow(after: timedelta = timedelta()) -> PendingRequest:
    """One look at the withdrawal, at a time at which it is due."""
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now() + after)
    return PendingRequest.objects.get()


def pass_the_queue(live: LiveGolem) -> None:
    live.world.rpc.call("anvil_mine", hex(DELAY + 1))


def pause(live: LiveGolem, flags: int) -> None:
    live.world.transact(derive_account("eigenlayer deployer"), AT["delegation"], "setPaused(uint256)", flags)


def read_page(live: LiveGolem, *of: Any) -> str:
    browser = Client()
    live.owner.is_superuser = True
    live.owner.save()
    browser.force_login(live.owner)
    answer = browser.get(page(*of))
    assert answer.status_code == 200
    return str(answer.content.decode())


def events(kind: EventType) -> list[dict[str, Any]]:
    return [dict(row.payload) for row in OutboxEvent.objects.filter(type=kind).order_by("sequence")]


def all_verified() -> bool:
    """Whether everything that was carried out did as it promised, and no venue lost trust by it."""
    return not OutcomeRecord.objects.filter(is_verified=False).exists() and not VenueTrust.objects.exists()


def test_a_halt_queues_everything_says_until_when_it_waits_and_completes(live: LiveGolem) -> None:
    before = live.balance("DAI")
    steps = halt(live)
    (waiting,) = restaked_of(live).waiting
    assert not restaked_of(live).deposits and not is_done() and list_unfinished_halts()
    told = [each for step in steps.values() for each in step.get("positions", [])]
    until = next(each["until"] for each in told if each.get("outcome") == "waits")
    row = PendingRequest.objects.get()
    assert row.ref.endswith(waiting.root) and row.state == RequestState.REQUESTED
    followed = follow()
    assert followed.expected_at is not None
    assert abs(int(followed.expected_at.timestamp()) - live.world.timestamp() - (DELAY + 1) * 12) <= 24
    at = datetime.fromtimestamp(until, tz=UTC)
    record = read_page(live, "permits_app.haltrecord", "change", HaltRecord.objects.get().pk)
    assert "can be slashed until then" in record and f"{at:%Y-%m-%d}" in record
    assert "eigenlayer" in read_page(live, "permits_app.pendingrequest", "changelist").lower()
    assert "in 10 min" in read_page(live, "archetypes_app.golem", "money", live.golem.pk)
    assert carry_out(live) and PendingRequest.objects.count() == 1, "it does not queue twice"
    pass_the_queue(live)
    assert follow().state == RequestState.READY
    carry_out(live)
    assert is_done() and all_verified()
    assert live.balance("DAI") in range(before + DAI - 6, before + DAI + 1)
    assert follow().state == RequestState.DONE and not restaked_of(live).waiting


def test_what_is_slashed_while_it_is_queued_comes_out_as_what_is_left_and_is_told(live: LiveGolem) -> None:
    before = live.balance("DAI")
    halt(live)
    keep_value(live)
    slash(live.world, WAD // 4)
    keep_value(live, after=timedelta(minutes=11))
    (event,) = events(EventType.POSITION_SLASHED)
    assert event["position"] == PendingRequest.objects.get().ref and event["left_bps"] == 7_500
    assert int(follow().amounts[0]["raw"]) in range(DAI * 3 // 4 - 4, DAI * 3 // 4 + 1)
    pass_the_queue(live)
    carry_out(live)
    assert is_done() and all_verified()
    assert live.balance("DAI") in range(before + DAI * 3 // 4 - 6, before + DAI * 3 // 4 + 1)
    keep_value(live, after=timedelta(minutes=22))
    rows = NavSnapshot.objects.filter(golem=live.golem).order_by("at")
    whole = sum_parts(Parts.from_json(row.parts) for row in rows)
    assert abs(whole.slashes + 250 * 10**6) < 10_000 and abs(whole.fees_and_interest) < 10_000, whole
    assert not events(EventType.REQUEST_LOST) and not events(EventType.REQUEST_STUCK)


def test_what_is_slashed_to_nothing_in_the_queue_ends_the_halt(live: LiveGolem) -> None:
    halt(live)
    keep_value(live)
    slash(live.world, WAD)
    keep_value(live, after=timedelta(minutes=11))
    assert [each["left_bps"] for each in events(EventType.POSITION_SLASHED)] == [0]
    pass_the_queue(live)
    carry_out(live)
    assert is_done() and all_verified()


def test_a_queue_that_is_paused_is_waited_for_and_said_to_be(live: LiveGolem) -> None:
    halt(live)
    pause(live, NO_EXIT)
    pass_the_queue(live)
    steps = carry_out(live)
    told = [each for step in steps.values() for each in step.get("positions", []) if each.get("outcome")]
    assert [(each["outcome"], each["until"]) for each in told] == [("waits", None)] and "paused" in told[0]["reason"]
    assert not is_done()
    record = read_page(live, "permits_app.haltrecord", "change", HaltRecord.objects.get().pk)
    assert "EigenLayer has paused completing withdrawals" in record
    assert "paused by its guardians" in read_page(live, "archetypes_app.golem", "money", live.golem.pk)
    assert follow().state == RequestState.REQUESTED
    assert follow(timedelta(days=121)).state == RequestState.STUCK
    assert len(events(EventType.REQUEST_STUCK)) == 1
    pause(live, 0)
    carry_out(live)
    assert is_done() and all_verified()
    assert follow().state == RequestState.DONE


def test_a_queue_that_takes_nobody_is_tried_again_when_it_does(live: LiveGolem) -> None:
    pause(live, NO_QUEUE)
    steps = halt(live)
    told = [each for step in steps.values() for each in step.get("positions", []) if each.get("outcome")]
    assert "paused new withdrawals" in told[0]["reason"] and not is_done()
    pause(live, 0)
    carry_out(live)
    assert PendingRequest.objects.count() == 1 and restaked_of(live).waiting


def test_a_withdrawal_that_was_completed_elsewhere_is_told_and_holds_up_no_halt(live: LiveGolem) -> None:
    halt(live)
    pass_the_queue(live)
    before = live.balance("DAI")
    (waiting,) = restaked_of(live).waiting
    rpc = live.world.rpc
    rpc.call("anvil_impersonateAccount", live.golem.address)
    data = "0x" + encode_call("function " + COMPLETE, waiting.as_argument, [waiting.parts[0].token], True).hex()
    request = {"from": live.golem.address, "to": AT["delegation"], "data": data, "gas": hex(2_000_000)}
    assert live.world.wait(rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    rpc.call("anvil_stopImpersonatingAccount", live.golem.address)
    assert live.balance("DAI") > before
    follow()
    assert follow(MISSED_FOR + timedelta(seconds=1)).state == RequestState.LOST
    assert len(events(EventType.REQUEST_LOST)) == 1
    carry_out(live)
    assert is_done(), "there is nothing left to leave"


def test_what_the_operator_put_into_the_queue_is_left_by_the_halt_too(live: LiveGolem) -> None:
    before = live.balance("DAI")
    live.world.transact(
        derive_account("eigenlayer operator"), AT["delegation"], "undelegate(address)", live.golem.address
    )
    halt(live)
    assert not is_done()
    pass_the_queue(live)
    carry_out(live)
    assert is_done() and live.balance("DAI") in range(before + DAI - 6, before + DAI + 1)


def keep_value(live: LiveGolem, *, after: timedelta = timedelta()) -> None:
    live.world.rpc.call("evm_mine")
    assert value_golem(golem=live.golem, now=clock.now() + after) is not None


def restaked_of(live: LiveGolem) -> Any:
    return restaked(live.world, _Account(live.golem.address))  # type: ignore[arg-type]


class _Account:
    """As far as a reader asks."""

    def __init__(self, address: str) -> None:
        self.address = address
