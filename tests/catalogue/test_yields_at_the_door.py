"""What goes wrong where a yield is earned, at the public door.

Claims that fall due, oracles that nobody prepared, dust of strangers, restricted accounts, queues that are slashed,
struck or emptied by somebody else, and issuers that keep what is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.models import OutcomeRecord, PendingRequest
from permits_app.models.pending_request import RequestState
from tests.catalogue.door import Door
from tests.catalogue.test_adversaries import stop_feed
from tests.catalogue.test_restaked_halt import halt, is_done, read_page
from tests.catalogue.test_vault_request_halt import outcomes
from tests.catalogue.test_what_cannot_be_taken_out import look, told
from tests.catalogue.test_what_others_take import confirm
from tests.evm.world import World
from tests.golem_project.heartbeat.pulses import turn_on
from tests.permits_app.test_staked_halt import carry_out
from tests.tools_app.protocols.eigenlayer.test_restaked import AT
from tests.tools_app.protocols.erc4626.people import VAULT
from tests.tools_app.protocols.erc4626.test_savings import set_rate
from tests.tools_app.protocols.ethena.test_staking import give
from tests.tools_app.protocols.liquid_restaking.issuers import as_admin, at, pay_all
from tests.tools_app.protocols.liquid_restaking.test_restaked_ether import PAUSES
from tests.tools_app.protocols.pendle.paused_yield import pause_yield
from tests.tools_app.protocols.pendle.test_market import forget_past
from tests.tools_app.protocols.yearn.test_vaults import VAULT as YEARN
from tools_app.core import clock
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent
from tools_app.protocols.curve.protocol import PROTOCOL as CURVE
from tools_app.protocols.ethena.addresses import deployments as ethena
from tools_app.protocols.ethena.positions import DUST_WEI
from tools_app.protocols.pendle.addresses import find_places
from tools_app.standards.rays import RAY

CHAIN_ID = 31_337
ETH, DAI, USD = 10**18, 10**18, 10**6


def kinds() -> list[str]:
    found = OutboxEvent.objects.filter(type__startswith="request:").order_by("sequence")
    return [str(each) for each in found.values_list("type", flat=True)]


def follow(after: timedelta = timedelta()) -> PendingRequest:
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now() + after)
    return PendingRequest.objects.get()


def all_verified() -> bool:
    return not OutcomeRecord.objects.filter(is_verified=False).exists()


# ---- claims on a yield ---------------------------------------------------------------------------------------------


@pytest.mark.protocols("pendle")
def test_claims_that_fall_due_before_they_are_paid_for_are_not_bought_and_what_is_held_is_redeemed(door: Door) -> None:
    assert door.commit(door.preview("pendle_buy_pt"))["status"] == "COMMITTED"
    permit, (place,) = door.preview("pendle_buy_pt"), find_places(CHAIN_ID)
    world = door.stage.world
    expiry = int(world.rpc.read(place.market, "expiry()", returns="(uint256)")[0])
    world.rpc.call("evm_increaseTime", expiry - world.timestamp())
    world.rpc.call("evm_mine")
    before = door.stage.wallet()
    assert door.commit(permit)["status"] == "BLOCKED"
    assert door.stage.wallet() == before
    for case in ("pendle_buy_pt", "pendle_buy_yt", "pendle_add_lp", "pendle_sell_pt"):
        problem = door.preview(case)
        assert (problem["code"], problem["recovery"]) == ("PENDLE_MARKET_EXPIRED", "FIX_PARAMS"), problem
    # A way out is the call that it is refused with.
    held = world.rpc.balance_of(place.pt, door.stage.account)
    assert door.commit(door.preview("pendle_redeem"))["status"] == "COMMITTED" and all_verified()
    came = door.stage.wallet()[place.asset] - before[place.asset]
    assert abs(came - held) <= 10 and world.rpc.balance_of(place.pt, door.stage.account) == 0


@pytest.mark.protocols("pendle")
def test_an_oracle_that_nobody_prepared_is_refused_by_name_and_what_is_held_is_told_as_unread(door: Door) -> None:
    door.do("pendle_buy_pt")
    live = door.stage.live
    forget_past(door.stage.world)
    for case in ("pendle_buy_pt", "pendle_buy_yt", "pendle_add_lp"):
        problem = door.preview(case)
        assert (problem["code"], problem["http"]) == ("PENDLE_ORACLE_NOT_READY", 409), problem
        assert problem["seconds"] == 900 and problem["recovery"] == "WAIT"
    page = read_page(live, "archetypes_app.golem", "money", live.golem.pk)
    assert "no average price of fifteen minutes" in page, page[:20000]


# ---- queues --------------------------------------------------------------------------------------------------------


@pytest.mark.protocols("ethena")
def test_dust_that_a_stranger_sends_restarts_no_cooldown_and_a_halt_ends_all_the_same(door: Door) -> None:
    live = door.stage.live
    assert door.commit(door.preview("ethena_stake_usde"))["status"] == "COMMITTED"
    assert door.commit(door.preview("ethena_unstake_usde", amount="max"))["status"] == "COMMITTED"
    ends = follow().expected_at
    give(live.world, 2 * DUST_WEI, shares=True, to=live.golem.address)
    problem = door.preview("ethena_unstake_usde", amount="max")
    assert problem["code"] == "COOLDOWN_WOULD_RESTART" and problem["detail"], problem
    halt(live)
    assert not is_done() and follow().expected_at == ends
    door.stage.pass_days(8)
    assert follow().state == RequestState.READY
    before = live.balance("DAI")
    carry_out(live)
    # What cooled down is home; then what the stranger sent leaves as well, with a time of its own.
    assert live.balance("DAI") > before + 1_000 * DAI
    door.stage.pass_days(8)
    carry_out(live)
    carry_out(live)
    assert is_done() and all_verified()


@pytest.mark.protocols("ethena")
def test_who_is_frozen_by_the_issuer_is_told_by_the_tick_refused_and_handed_to_its_owner_by_a_halt(door: Door) -> None:
    live = door.stage.live
    assert door.commit(door.preview("ethena_stake_usde"))["status"] == "COMMITTED"
    turn_on(live.golem, is_live=False)
    susde = (ethena(CHAIN_ID) or {})["susde"]
    (role,) = live.world.rpc.read(susde, "FULL()", returns="(bytes32)")
    admin = derive_account("ethena deployer")
    live.world.transact(admin, susde, "restrict(bytes32,address,bool)", role, live.golem.address, True)
    look(door)
    assert [each.partition(":")[0] for each in told(door)] == ["cannot be taken out now"]
    for case in ("ethena_stake_usde", "ethena_unstake_usde"):
        assert door.preview(case)["code"] == "STAKER_RESTRICTED"
    holdings = door.stage.holdings()
    assert holdings.nav_micro_usd - holdings.liquid_micro_usd(int(clock.now().timestamp())) > 1_000 * USD
    stuck = outcomes(halt(live))
    assert [each["outcome"] for each in stuck] == ["its owner is needed"], stuck
    assert "restricted" in stuck[0]["reason"]


def ask_back(door: Door, issuer: str) -> PendingRequest:
    """Its agent restakes and asks for half of it back."""
    assert door.commit(door.preview(f"lrt_deposit_{issuer}"))["status"] == "COMMITTED"
    assert door.commit(door.preview(f"lrt_withdraw_{issuer}"))["status"] == "COMMITTED"
    row = follow()
    assert row.state == RequestState.REQUESTED
    return row


@pytest.mark.protocols("liquid_restaking")
def test_a_request_at_an_issuer_that_is_slashed_while_it_waits_brings_what_is_left_and_is_followed_to_its_end(
    door: Door,
) -> None:
    live, row = door.stage.live, ask_back(door, "etherfi")
    asked = int(row.amounts[0]["raw"])
    pooled = live.world.rpc.read(at("etherfi_pool"), "getTotalPooledEther()", returns="(uint256)")[0]
    as_admin(live.world, "etherfi_pool", "rebase(int128)", -int(pooled) // 10)
    left = int(follow().amounts[0]["raw"])
    assert abs(left - asked * 9 // 10) * 10_000 < asked
    pay_all(live.world)
    assert follow().state == RequestState.READY
    request = row.ref.rpartition("/")[2]
    permit = door.preview("lrt_claim_etherfi", request_id=request)
    assert door.commit(permit)["status"] == "COMMITTED" and all_verified()
    follow()
    confirm(live)
    assert follow().state == RequestState.DONE


@pytest.mark.protocols("liquid_restaking")
def test_a_request_that_an_issuer_struck_is_told_as_stuck_and_a_halt_hands_it_to_its_owner(door: Door) -> None:
    live, row = door.stage.live, ask_back(door, "etherfi")
    number = int(row.ref.rpartition("-")[2])
    as_admin(live.world, "etherfi_requests", "invalidateRequest(uint256)", number)
    assert follow().state == RequestState.STUCK
    assert kinds().count(EventType.REQUEST_STUCK) == 1 and follow().state == RequestState.STUCK
    assert kinds().count(EventType.REQUEST_STUCK) == 1
    assert "its owner is needed" in [each["outcome"] for each in outcomes(halt(live))]


@pytest.mark.protocols("liquid_restaking")
def test_a_request_that_a_stranger_claimed_for_the_golem_has_arrived(door: Door) -> None:
    live = door.stage.live
    ask_back(door, "renzo")
    pay_all(live.world)
    stranger = live.world.new_account(ETH)
    live.world.transact(stranger, at("renzo_queue"), "claim(uint256,address)", 0, live.golem.address)
    follow()
    confirm(live)
    assert follow().state == RequestState.DONE and EventType.REQUEST_LOST not in kinds()


# ---- what fails at an issuer ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    """What keeps money in: the case that goes in, what happens, and the code that a further deposit is refused with."""

    case: str
    deed: Callable[[World], Any]
    code: str
    params: dict[str, Any] = field(default_factory=dict)


def pause_issuer(issuer: str) -> Callable[[World], Any]:
    key, signature, args = PAUSES[issuer]
    return lambda world: as_admin(world, key, signature, *args)


def dry_up(world: World) -> None:
    """The strategies of Yearn's vault have lent out everything."""
    admin = derive_account("yearn deployer")
    (all_in,) = world.rpc.read(YEARN, "totalAssets()", returns="(uint256)")
    world.transact(admin, YEARN, "update_debt(uint256)", all_in)
    (debt,) = world.rpc.read(YEARN, "totalDebt()", returns="(uint256)")
    world.transact(admin, YEARN, "suffer(uint256,uint256)", 0, debt)


def pause_compound(world: World) -> None:
    comet, admin = world.protocols["compound_v3"]["comet_usdc"], derive_account("compound_v3 deployer")
    world.transact(admin, comet, "pause(bool,bool,bool,bool,bool)", True, False, True, False, False)


FAILURES = {
    "liquid_restaking etherfi": Failure("lrt_deposit_etherfi", pause_issuer("etherfi"), "DEPEG_RISK_HIGH"),
    "liquid_restaking kelp": Failure("lrt_deposit_kelp", pause_issuer("kelp"), "DEPEG_RISK_HIGH"),
    "liquid_restaking renzo": Failure("lrt_deposit_renzo", pause_issuer("renzo"), "DEPEG_RISK_HIGH"),
    "eigenlayer": Failure(
        "eigenlayer_deposit_lst",
        lambda world: world.transact(
            derive_account("eigenlayer deployer"), AT["delegation"], "setPaused(uint256)", 2 | 4
        ),
        "RESTAKING_PAUSED",
    ),
    "erc4626 asked": Failure(
        "vault_ask_in",
        lambda world: world.transact(derive_account("erc4626 deployer"), VAULT, "pause()"),
        "VAULT_CLOSED",
    ),
    "pendle": Failure(
        "pendle_buy_pt", lambda world: pause_yield(world, find_places(CHAIN_ID)[0].sy), "PENDLE_YIELD_PAUSED"
    ),
    "yearn": Failure("yearn_deposit", dry_up, "VAULT_CLOSED"),
    "compound_v3": Failure("compound_v3_supply", pause_compound, "MARKET_CLOSED"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.protocols(name.partition(" ")[0])) for name in FAILURES]
)
def test_an_issuer_that_keeps_what_is_there_is_told_by_the_next_tick_not_liquid_and_entered_no_more(
    door: Door, name: str
) -> None:
    failure, live = FAILURES[name], door.stage.live
    assert door.commit(door.preview(failure.case))["status"] == "COMMITTED"
    turn_on(live.golem, is_live=False)
    look(door)
    assert told(door) == []
    failure.deed(live.world)
    holdings = door.stage.holdings()
    assert holdings.nav_micro_usd - holdings.liquid_micro_usd(int(clock.now().timestamp())) > 990 * USD
    look(door)
    look(door)
    assert [each.partition(":")[0] for each in told(door)] == ["cannot be taken out now"]
    refused = door.preview(failure.case, **failure.params)
    assert refused["code"] == failure.code and refused["recovery"], refused


# ---- what takes nothing more and keeps nothing ----------------------------------------------------------------------


def shut_down_at_convex(world: World) -> None:
    booster = str(CURVE.address(CHAIN_ID, "convex_booster"))
    world.transact(derive_account("curve deployer"), booster, "shutdownPool(uint256)", 0)


def pause_moonwell(world: World) -> None:
    at_moonwell = world.protocols["moonwell"]
    pause, market = "pause(address,bool,bool)", at_moonwell["market_usdc"]
    world.transact(derive_account("moonwell deployer"), at_moonwell["comptroller"], pause, market, True, True)


STOPS = {
    "curve": Failure("convex_stake_lp", shut_down_at_convex, "CONVEX_POOL_SHUTDOWN", {"amount": "1"}),
    "moonwell": Failure("moonwell_supply", pause_moonwell, "MARKET_CLOSED"),
    "erc4626": Failure("savings_deposit", lambda world: set_rate(world, RAY), "VAULT_CLOSED"),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.protocols(name)) for name in STOPS])
def test_what_takes_nothing_more_is_told_by_the_next_tick_entered_no_more_and_left_whole(door: Door, name: str) -> None:
    stop, live = STOPS[name], door.stage.live
    door.do(stop.case)
    turn_on(live.golem, is_live=False)
    look(door)
    assert told(door) == []
    stop.deed(live.world)
    look(door)
    look(door)
    assert [each.partition(":")[0] for each in told(door)] == ["frozen"]
    # Nothing of it is kept: all counts as what can be had.
    holdings = door.stage.holdings()
    assert holdings.nav_micro_usd == holdings.liquid_micro_usd(int(clock.now().timestamp()))
    refused = door.preview(stop.case, **stop.params)
    assert refused["code"] == stop.code and refused["recovery"], refused
    halt(live)
    assert is_done() and all_verified()


@pytest.mark.protocols("erc4626")
def test_savings_whose_asset_has_no_fresh_price_are_told_by_the_next_tick_and_entered_no_more(door: Door) -> None:
    live = door.stage.live
    door.do("savings_deposit")
    turn_on(live.golem, is_live=False)
    look(door)
    assert told(door) == []
    stop_feed("DAI")(door)
    look(door)
    look(door)
    assert [each.partition(":")[0] for each in told(door)] == ["oracle failed"]
    assert door.preview("savings_deposit")["code"] == "PRICE_STALE"
