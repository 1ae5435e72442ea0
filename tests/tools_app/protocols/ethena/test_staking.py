"""Staking at Ethena and leaving again: cooldowns that restart, gifts, losses, restrictions, and what is earned."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.ethena.math import Reward, Rewards, judge_yield, rate_now_bps
from tools_app.protocols.ethena.positions import DUST_WEI
from tools_app.protocols.ethena.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import REQUEST_KIND, Act, ExitStep, Position, Stuck, Wait

pytestmark = pytest.mark.protocols("ethena")
WAD, WEEK, DAY = 10**18, 7 * 86_400, 86_400
SUSDE = str(PROTOCOL.address(CHAIN_ID, "susde"))
STAKE = str(10_400 * WAD)


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 20_000 * WAD}))


def as_admin(chain: World, signature: str, *args: Any) -> None:
    chain.transact(derive_account("ethena deployer"), SUSDE, signature, *args)


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def of_kind(golem: Golem, kind: str) -> Position:
    (found,) = (each for each in golem.positions() if each.ref.kind == kind)
    return found


def step(golem: Golem, kind: str) -> ExitStep | None:
    assert PROTOCOL.exits is not None
    return PROTOCOL.exits.next_step(of_kind(golem, kind), {}, golem.chain.timestamp())


def give(chain: World, amount: int, *, shares: bool = False, to: str = SUSDE) -> None:
    """A stranger sends dollars to the vault, or shares of it to somebody."""
    giver = chain.new_account(WAD, {"DAI": amount})
    token = chain.tokens["DAI"].address
    if not shares:
        chain.transact(giver, token, "transfer(address,uint256)", to, amount)
        return
    chain.transact(giver, token, "approve(address,uint256)", SUSDE, amount)
    chain.transact(giver, SUSDE, "deposit(uint256,address)", amount, to)


def reward(chain: World, amount: int) -> None:
    """The issuer pays rewards, which drip in over eight hours."""
    admin = derive_account("ethena deployer")
    token = chain.tokens["DAI"].address
    giver = chain.new_account(WAD, {"DAI": amount})
    chain.transact(giver, token, "transfer(address,uint256)", admin.address, amount)
    chain.transact(admin, token, "approve(address,uint256)", SUSDE, amount)
    chain.transact(admin, SUSDE, "transferInRewards(uint256)", amount)


def test_the_world_and_the_product_agree_on_the_address(chain: World) -> None:
    assert chain.protocols["ethena"] == {"susde": SUSDE}
    assert PROTOCOL.is_simulated(CHAIN_ID) and not PROTOCOL.is_simulated(1)


def test_what_is_staked_cools_down_for_a_week_and_comes_back_with_its_rewards(chain: World, golem: Golem) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    dai = chain.tokens["DAI"].address
    reward(chain, 10_504 * WAD)
    pass_time(chain, 9 * 3_600)
    told = answer_of(make_context(chain, address=golem.address), "ethena_get_position")
    # A hundred and first part of the vault is the golem's, and of the rewards.
    assert int(told["cumulative_yield"]) in range(104 * WAD - 100, 104 * WAD + 1)
    asked = step(golem, "stake")
    assert isinstance(asked, Act) and asked.tool == "ethena_unstake_usde"
    golem.act(asked.tool, amount="max")
    waiting = of_kind(golem, REQUEST_KIND)
    assert waiting.legs[0].free_at == chain.timestamp() + WEEK
    worth = waiting.raw_of(dai)
    assert worth in range(10_504 * WAD - 100, 10_504 * WAD + 1)
    assert isinstance(step(golem, REQUEST_KIND), Wait)
    assert refused(golem, "ethena_claim_unstaked").code == "COOLDOWN_NOT_OVER"
    reward(chain, 10_504 * WAD)
    pass_time(chain, WEEK)
    # What cools down earns nothing more.
    left = golem.act("ethena_claim_unstaked")
    assert left.deltas[dai] == worth and golem.positions() == ()
    assert refused(golem, "ethena_claim_unstaked").code == "NOTHING_COOLS_DOWN"


def test_a_second_exit_says_that_it_would_start_the_first_ones_time_anew(chain: World, golem: Golem) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    golem.act("ethena_unstake_usde", amount=str(1_000 * WAD))
    first = of_kind(golem, REQUEST_KIND).legs[0].free_at
    pass_time(chain, 3 * DAY)
    error = refused(golem, "ethena_unstake_usde", amount=str(1_000 * WAD))
    assert error.code == "COOLDOWN_WOULD_RESTART" and error.data["cooling"] == str(1_040 * WAD - 1)
    golem.act("ethena_unstake_usde", amount=str(1_000 * WAD), restart_cooldown=True)
    both = of_kind(golem, REQUEST_KIND)
    assert first is not None and both.legs[0].free_at is not None and both.legs[0].free_at >= first + 3 * DAY
    pass_time(chain, WEEK)
    # A cooldown that is over is no more in danger than its owner's patience: it may be joined without a word.
    golem.plan("ethena_unstake_usde", amount=str(1_000 * WAD))


def test_shares_that_a_stranger_sends_do_not_keep_what_cools_down_from_being_claimed(
    chain: World, golem: Golem
) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    golem.act("ethena_unstake_usde", amount="max")
    end = of_kind(golem, REQUEST_KIND).legs[0].free_at
    give(chain, 2 * DUST_WEI, shares=True, to=golem.address)
    waits = step(golem, "stake")
    assert isinstance(waits, Wait) and waits.until == end
    pass_time(chain, WEEK)
    claim = step(golem, REQUEST_KIND)
    assert isinstance(claim, Act) and claim.tool == "ethena_claim_unstaked"
    golem.act(claim.tool)
    assert isinstance(step(golem, "stake"), Act)


def test_dust_that_a_stranger_sends_is_nothing_to_leave(chain: World, golem: Golem) -> None:
    give(chain, DUST_WEI // 2, shares=True, to=golem.address)
    found = of_kind(golem, "stake")
    assert PROTOCOL.exits is not None
    for worth, leaves in ((DUST_WEI - 1, False), (DUST_WEI, True)):
        held = replace(found, facts={**found.facts, "worth": str(worth)})
        assert (PROTOCOL.exits.next_step(held, {}, chain.timestamp()) is not None) is leaves


def test_nobody_else_starts_or_claims_a_golems_cooldown(chain: World, golem: Golem) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    golem.act("ethena_unstake_usde", amount=str(1_000 * WAD))
    before = of_kind(golem, REQUEST_KIND)
    stranger = chain.new_account(WAD)
    chain.transact(stranger, SUSDE, "unstake(address)", stranger.address)
    assert of_kind(golem, REQUEST_KIND).legs == before.legs


def test_instant_is_a_sale_while_there_is_a_cooldown_and_an_exit_at_once_where_there_is_none(
    chain: World, golem: Golem
) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    error = refused(golem, "ethena_unstake_usde", amount="max", mode="instant")
    assert error.code == "INSTANT_EXIT_IS_A_SALE" and error.data["cooldown_seconds"] == WEEK
    golem.act("ethena_unstake_usde", amount=str(5_000 * WAD))
    as_admin(chain, "setCooldownDuration(uint24)", 0)
    assert of_kind(golem, REQUEST_KIND).legs[0].free_at is None
    golem.act("ethena_claim_unstaked")
    left = golem.act("ethena_unstake_usde", amount="max", mode="instant")
    assert left.deltas[chain.tokens["DAI"].address] in range(5_200 * WAD - 10, 5_200 * WAD + 10)
    assert golem.positions() == ()


def test_a_gift_that_blows_up_the_price_of_a_share_between_plan_and_call_refuses_the_plan(
    chain: World, golem: Golem
) -> None:
    plan = golem.plan("ethena_stake_usde", amount=STAKE)
    give(chain, 50_000 * WAD)
    with pytest.raises(AssertionError):
        golem.check_measured(plan)


def test_a_loss_between_plan_and_call_refuses_what_would_leave_for_less(chain: World, golem: Golem) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    plan = golem.plan("ethena_unstake_usde", amount="max")
    as_admin(chain, "lose(uint256)", 300_000 * WAD)
    with pytest.raises(AssertionError):
        golem.check_measured(plan)
    # Whoever asks again leaves with what there is.
    golem.act("ethena_unstake_usde", amount="max")


def test_a_cooldown_that_becomes_longer_is_told_and_what_waits_already_keeps_its_time(
    chain: World, golem: Golem
) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    golem.act("ethena_unstake_usde", amount=str(1_000 * WAD))
    end = of_kind(golem, REQUEST_KIND).legs[0].free_at
    as_admin(chain, "setCooldownDuration(uint24)", 90 * DAY)
    assert of_kind(golem, REQUEST_KIND).legs[0].free_at == end
    assert golem.plan("ethena_stake_usde", amount=str(WAD)).details["cooldown_seconds"] == 90 * DAY


def test_an_account_that_the_issuer_restricts_is_told_as_stuck_and_goes_on_with_nothing(
    chain: World, golem: Golem
) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    golem.act("ethena_unstake_usde", amount=str(1_000 * WAD))
    (role,) = chain.rpc.read(SUSDE, "FULL()", returns="(bytes32)")
    as_admin(chain, "restrict(bytes32,address,bool)", role, golem.address, True)
    for kind in ("stake", REQUEST_KIND):
        assert isinstance(step(golem, kind), Stuck)
        assert [each.reason for each in of_kind(golem, kind).locked] == ["frozen"]
    for tool, params in (
        ("ethena_stake_usde", {"amount": str(WAD)}),
        ("ethena_unstake_usde", {"amount": "max"}),
        ("ethena_claim_unstaked", {}),
    ):
        assert refused(golem, tool, **params).code == "STAKER_RESTRICTED"
    told = answer_of(make_context(chain, address=golem.address), "ethena_get_position")
    assert told["is_restricted"] is True


def test_foreign_bytes_are_a_veto(chain: World, golem: Golem) -> None:
    golem.act("ethena_stake_usde", amount=STAKE)
    golem.act("ethena_unstake_usde", amount=str(1_000 * WAD))
    reader = make_context(chain, address=golem.address).chain()
    other = "0x" + "66" * 20
    for data, value in (
        (encode_call("function cooldownShares(uint256)", 5) + b"\0", 0),
        (encode_call("function cooldownShares(uint256)", 5), 1),
        (encode_call("function unstake(address)", other), 0),
        (encode_call("function redeem(uint256,address,address)", 5, golem.address, other), 0),
        (encode_call("function deposit(uint256,address)", 5, other), 0),
        (encode_call("function cooldownAssets(uint256)", 5), 0),
        (encode_call("function transfer(address,uint256)", other, 5), 0),
    ):
        with pytest.raises(UnknownCall):
            assert PROTOCOL.effects is not None
            call = Call(SUSDE, data, value, "")
            PROTOCOL.effects.read(call, earlier=(), account=golem.address, chain=reader, into=Effects())


def test_the_yield_is_what_drips_in_and_an_average_is_null_where_the_chain_is_too_young(
    chain: World, golem: Golem
) -> None:
    context = make_context(chain, address=golem.address)
    quiet = answer_of(context, "ethena_get_apy")
    assert (quiet["current_apy"], quiet["yield_risk"]) == ("0", "High")
    assert quiet["apy_30d_average"] is None and quiet["funding_rate_component"]["current"] is None
    reward(chain, 100 * WAD)
    chain.rpc.call("evm_mine")
    told = answer_of(make_context(chain, address=golem.address), "ethena_get_apy")
    # 100 of 1,040,000 in eight hours, a year long: 10.52% by hand.
    assert told["current_apy"] == "10.52" and told["yield_risk"] == "Medium"
    assert [each["usde"] for each in told["total_historical"]] == [str(100 * WAD)]
    pass_time(chain, 9 * 3_600)
    assert answer_of(make_context(chain, address=golem.address), "ethena_get_apy")["current_apy"] == "0"


@given(raws=st.lists(st.integers(0, 10**24), max_size=20), staked=st.integers(1, 10**27), days=st.integers(1, 90))
def test_a_year_of_a_span_is_the_span_as_often_as_it_fits(raws: list[int], staked: int, days: int) -> None:
    span = Rewards(days, 5, is_whole=True, all=tuple(Reward(10 + i, raw) for i, raw in enumerate(raws)))
    found = span.yearly_bps(staked=staked)
    assert found is not None
    assert 0 <= Fraction(sum(raws), staked) * 10_000 * Fraction(365, days) - found < 1
    assert Rewards(days, 0, is_whole=False, all=span.all).yearly_bps(staked=staked) is None


def test_what_drips_in_is_nothing_once_all_came_and_the_risk_follows_its_rule() -> None:
    assert rate_now_bps(unvested=0, vesting=10**20, period=28_800, staked=10**24) == 0
    assert rate_now_bps(unvested=1, vesting=10**20, period=28_800, staked=10**24) == 1_095
    assert judge_yield(has_come=False, week_bps=900, month_bps=900) == "High"
    assert judge_yield(has_come=True, week_bps=449, month_bps=900) == "Medium"
    assert judge_yield(has_come=True, week_bps=450, month_bps=900) == "Low"
    assert judge_yield(has_come=True, week_bps=450, month_bps=None) == "Medium"
