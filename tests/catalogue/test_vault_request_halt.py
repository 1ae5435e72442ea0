"""What a golem asked of a vault by request is followed to its end, and a halt takes it back or waits for it and claims;
what others do to it meanwhile (settle, push out, pause, lose) is told and loses nothing more.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.rpc import call_data
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.halt import list_unfinished_halts
from permits_app.actions.value_golem import value_golem
from permits_app.limits.pending_requests import LONGEST
from permits_app.models import HaltRecord, NavSnapshot, OutcomeRecord, PendingRequest, VenueTrust
from permits_app.models.pending_request import RequestState
from permits_app.performance.nav_parts import Parts, sum_parts
from tests.catalogue.door import Door
from tests.catalogue.test_restaked_halt import halt, is_done, read_page
from tests.live_golem import LiveGolem
from tests.permits_app.test_staked_halt import carry_out
from tests.tools_app.protocols.erc4626.people import VAULT, settle, value
from tools_app.core import clock
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent

pytestmark = pytest.mark.protocols("erc4626")
USDC = 10**6
ASKED = 10_000 * USDC
OUT = "settleRedeem(uint256)"
CLAIM_IN_FOR = "deposit(uint256,address,address)"
CLAIM_OUT_FOR = "redeem(uint256,address,address)"


@pytest.fixture
def asked(door: Door) -> Door:
    """Its agent asked the vault to take ten thousand dollars, over REST and as its owners approved."""
    assert door.commit(door.preview("vault_ask_in"))["status"] == "COMMITTED"
    return door


def hold(door: Door) -> LiveGolem:
    """What was asked for is settled and claimed: the golem has shares."""
    settle(door.stage.world)
    assert door.commit(door.preview("vault_claim_in"))["status"] == "COMMITTED"
    return door.stage.live


def outcomes(steps: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for step in steps.values() for each in step.get("positions", []) if each.get("outcome")]


def follow(way: str = "deposit", after: timedelta = timedelta()) -> PendingRequest:
    """One look at a request, at a time at which it is due."""
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now() + after)
    return PendingRequest.objects.get(ref__contains=f"/{way}-")


def kinds() -> list[str]:
    told = OutboxEvent.objects.filter(type__startswith="request:").order_by("sequence")
    return [str(each) for each in told.values_list("type", flat=True)]


def all_verified() -> bool:
    return not OutcomeRecord.objects.filter(is_verified=False).exists() and not VenueTrust.objects.exists()


def worth(live: LiveGolem, after: timedelta = timedelta()) -> int:
    live.world.rpc.call("evm_mine")
    assert value_golem(golem=live.golem, now=clock.now() + after) is not None
    newest = NavSnapshot.objects.filter(golem=live.golem).latest("at")
    return int(newest.value_micro_usd)


def test_a_deposit_by_request_is_followed_until_its_shares_are_claimed(asked: Door) -> None:
    live = asked.stage.live
    waits = follow()
    assert (waits.state, waits.expected_at) == (RequestState.REQUESTED, None), (
        "that it can be taken back is no readiness"
    )
    assert int(waits.amounts[0]["raw"]) == ASKED
    assert "Deposit asked for at" in read_page(live, "archetypes_app.golem", "money", live.golem.pk)
    settle(live.world)
    assert follow().state == RequestState.READY
    assert asked.commit(asked.preview("vault_claim_in"))["status"] == "COMMITTED"
    follow()
    live.world.rpc.call("anvil_mine", hex(8))
    assert follow().state == RequestState.DONE
    assert kinds() == [EventType.REQUEST_OPENED, EventType.REQUEST_READY, EventType.REQUEST_DONE]
    assert all_verified()


def test_what_a_request_is_worth_counts_at_every_stage_and_its_profit_is_what_the_vault_earned(asked: Door) -> None:
    live = asked.stage.live
    before = worth(live)
    settle(live.world)
    assert abs(worth(live, timedelta(minutes=11)) - before) < 10**6
    assert asked.commit(asked.preview("vault_claim_in"))["status"] == "COMMITTED"
    assert abs(worth(live, timedelta(minutes=22)) - before) < 10**6
    # Half of it is asked back, and the vault earned a tenth when it pays that half.
    asked_out = asked.preview("vault_ask_out", shares=str(5_000 * 10**18))
    assert asked.commit(asked_out)["status"] == "COMMITTED"
    assert abs(worth(live, timedelta(minutes=33)) - before) < 10**6
    live.world.fund(derive_account("erc4626 safe").address, 10**18, {"USDC": 100_000 * USDC})
    settle(live.world, 11_000 * USDC, what=OUT)
    assert asked.commit(asked.preview("vault_claim_out"))["status"] == "COMMITTED"
    # What was paid has come; what the other half earned is believed over days, as of every share.
    assert abs(worth(live, timedelta(minutes=44)) - before - 500 * 10**6) < 10**6
    rows = NavSnapshot.objects.filter(golem=live.golem).order_by("at")
    whole = sum_parts(Parts.from_json(row.parts) for row in rows)
    assert abs(whole.fees_and_interest - 500 * 10**6) < 10**6 and not whole.slashes, whole


def test_shares_that_the_vault_s_own_people_pushed_out_end_the_request_as_done(asked: Door) -> None:
    live = asked.stage.live
    settle(live.world)
    pushed = "claimSharesOnBehalf(address[])"
    live.world.transact(derive_account("erc4626 safe"), VAULT, pushed, [live.golem.address])
    follow()
    live.world.rpc.call("anvil_mine", hex(8))
    assert follow().state == RequestState.DONE
    assert EventType.REQUEST_LOST not in kinds()


def let_operate(live: LiveGolem, stranger: str) -> None:
    """The account makes a stranger its operator at the vault, past every rule of ours."""
    live.world.rpc.call("anvil_impersonateAccount", live.golem.address)
    data = call_data("setOperator(address,bool)", stranger, True)
    live.world.rpc.call("eth_sendTransaction", {"from": live.golem.address, "to": VAULT, "data": data})
    live.world.rpc.call("anvil_stopImpersonatingAccount", live.golem.address)


def test_what_an_operator_claims_for_somebody_else_is_told_as_lost_and_has_not_arrived(asked: Door) -> None:
    live = asked.stage.live
    follow()
    settle(live.world)
    stranger = live.world.new_account(10**18)
    let_operate(live, stranger.address)
    live.world.transact(stranger, VAULT, CLAIM_IN_FOR, ASKED // 4, stranger.address, live.golem.address)
    live.world.transact(stranger, VAULT, CLAIM_IN_FOR, ASKED // 4, live.golem.address, live.golem.address)
    # A part went elsewhere; the rest is there and still claimed by the golem, which says nothing of that part.
    assert follow().state == RequestState.READY
    assert asked.commit(asked.preview("vault_claim_in"))["status"] == "COMMITTED"
    follow()
    live.world.rpc.call("anvil_mine", hex(8))
    lost = follow()
    assert (lost.state, EventType.REQUEST_DONE in kinds()) == (RequestState.LOST, False)
    assert lost.last_error == (
        f"{2_500 * 10**18} base units of {VAULT} were claimed for {stranger.address}, and not for the account"
    )
    [told] = OutboxEvent.objects.filter(type=EventType.REQUEST_LOST).values_list("payload", flat=True)
    assert told["reason"] == lost.last_error


def test_assets_that_an_operator_claims_for_somebody_else_are_told_as_lost(asked: Door) -> None:
    live = hold(asked)
    assert asked.commit(asked.preview("vault_ask_out", shares="max"))["status"] == "COMMITTED"
    follow("withdrawal")
    settle(live.world, what=OUT)
    stranger = live.world.new_account(10**18)
    let_operate(live, stranger.address)
    live.world.transact(stranger, VAULT, CLAIM_OUT_FOR, 10_000 * 10**18, stranger.address, live.golem.address)
    before = live.balance("USDC")
    follow("withdrawal")
    live.world.rpc.call("anvil_mine", hex(8))
    lost = follow("withdrawal")
    assert lost.state == RequestState.LOST and f"claimed for {stranger.address}" in lost.last_error
    assert live.balance("USDC") == before
    assert EventType.REQUEST_LOST in kinds()


def test_what_an_operator_claims_for_the_account_itself_has_arrived(asked: Door) -> None:
    live = asked.stage.live
    settle(live.world)
    stranger = live.world.new_account(10**18)
    let_operate(live, stranger.address)
    live.world.transact(stranger, VAULT, CLAIM_IN_FOR, ASKED, live.golem.address, live.golem.address)
    follow()
    live.world.rpc.call("anvil_mine", hex(8))
    assert follow().state == RequestState.DONE
    assert EventType.REQUEST_LOST not in kinds()


def test_what_a_vault_never_settles_is_stuck_and_told_once(asked: Door) -> None:
    assert follow(after=LONGEST + timedelta(days=1)).state == RequestState.STUCK
    assert follow(after=LONGEST + timedelta(days=2)).state == RequestState.STUCK
    assert kinds().count(EventType.REQUEST_STUCK) == 1
    settle(asked.stage.world)
    assert follow(after=LONGEST + timedelta(days=3)).state == RequestState.READY


def test_a_halt_takes_a_deposit_back_that_the_vault_did_not_settle(asked: Door) -> None:
    live = asked.stage.live
    before = live.balance("USDC")
    halt(live)
    assert is_done() and all_verified()
    assert live.balance("USDC") == before + ASKED
    follow()
    live.world.rpc.call("anvil_mine", hex(8))
    assert follow().state == RequestState.DONE


def test_a_halt_asks_shares_back_waits_for_the_vault_and_claims(asked: Door) -> None:
    live = hold(asked)
    before = live.balance("USDC")
    steps = halt(live)
    assert not is_done() and list_unfinished_halts()
    assert carry_out(live) and PendingRequest.objects.filter(ref__contains="/withdrawal-").count() == 1
    told = [each for each in outcomes(carry_out(live)) if each["outcome"] == "waits"]
    assert told and told[0]["until"] is None and "not settled" in told[0]["reason"], steps
    record = read_page(live, "permits_app.haltrecord", "change", HaltRecord.objects.get().pk)
    assert "the vault has not settled it yet" in record
    assert follow("withdrawal").state == RequestState.REQUESTED
    settle(live.world, what=OUT)
    assert follow("withdrawal").state == RequestState.READY
    carry_out(live)
    assert is_done() and all_verified()
    assert live.balance("USDC") in range(before + ASKED - 1, before + ASKED + 1)


def test_a_halt_gets_out_of_what_is_being_settled_once_that_is_over(asked: Door) -> None:
    """The vault has begun to settle: nothing is taken back any more, and what comes of it is claimed and asked back."""
    live = asked.stage.live
    before = live.balance("USDC")
    value(live.world, 0)
    told = outcomes(halt(live))
    assert not is_done() and "RequestNotCancelable" in str(told)
    live.world.transact(derive_account("erc4626 safe"), VAULT, "settleDeposit(uint256)", 0)
    carry_out(live)
    carry_out(live)
    assert not is_done()
    settle(live.world, what=OUT)
    carry_out(live)
    assert is_done() and all_verified()
    assert live.balance("USDC") in range(before + ASKED - 1, before + ASKED + 1)


def test_a_vault_that_is_paused_is_waited_for_under_a_halt_and_told_as_locked(asked: Door) -> None:
    live = asked.stage.live
    admin = derive_account("erc4626 deployer")
    live.world.transact(admin, VAULT, "pause()")
    told = outcomes(halt(live))
    assert [each["outcome"] for each in told] == ["waits"] and "paused" in told[0]["reason"] and not is_done()
    assert "paused by its guardians" in read_page(live, "archetypes_app.golem", "money", live.golem.pk)
    live.world.transact(admin, VAULT, "unpause()")
    carry_out(live)
    assert is_done() and all_verified()
