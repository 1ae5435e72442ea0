"""What strangers bring along to the contracts that stand for protocols: gauges, markets, services and tokens of theirs,
numbers that do not fit, and calls that come again and again. None of it takes anything of an honest Safe's.
"""

from __future__ import annotations

from typing import Final

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.world.protocols import liquid_restaking
from tests.contracts.holdings_in_simulated_contracts import WAD, balance_of
from tests.contracts.lent_safe import deploy_code
from tests.contracts.strangers import Attacked, address_of, build_attacked, do, undone
from tests.proof.caged.safe import CagedSafe, deploy
from tools_app.chain.signatures import parse_signature

MUCH: Final = 2**29
"""Of a coin with eight decimals, about five whole."""


@pytest.fixture(scope="module")
def attacked() -> dict[str, Attacked]:
    return build_attacked("shares of a pool", "a loan", "an order", "restaked ether", "restaked tokens")


def make_up(caged: CagedSafe, says_much_of: str) -> str:
    """A contract that says much when it is asked one thing, and yes to everything else."""
    asked = parse_signature(f"function {says_much_of}").selector.hex()
    code = f"5f3560e01c63{asked}1467{(MUCH - 1).to_bytes(8).hex()}026001015f5260205ff3"
    return deploy_code(caged, bytes.fromhex("601e8060095f395ff3" + code))


def test_a_made_up_gauge_is_paid_nothing(attacked: dict[str, Attacked]) -> None:
    place = attacked["shares of a pool"]
    held, token = place.held, place.held.coin("WBTC")
    minter = address_of(held, "SimulatedCurveMinter")
    with undone(place.engine):
        made_up, stock = make_up(held.caged, "integrate_fraction(address)"), balance_of(held, token, minter)
        assert stock > MUCH
        assert not do(place, minter, "mint(address)", made_up)
        assert balance_of(held, token, minter) == stock and balance_of(held, token, held.thief) == 0
        weight = "function gauge_relative_weight(address) view returns (uint256)"
        assert held.caged.read(minter, weight, made_up) == (0,)
        gauge = address_of(held, "SimulatedCurveGauge")
        assert held.caged.read(minter, weight, gauge) == (WAD,)


def test_a_made_up_market_is_paid_no_rewards(attacked: dict[str, Attacked]) -> None:
    place = attacked["a loan"]
    held, token = place.held, place.held.coin("WBTC")
    rewards = address_of(held, "SimulatedCometRewards")
    with undone(place.engine):
        made_up, stock = make_up(held.caged, "baseTrackingAccrued(address)"), balance_of(held, token, rewards)
        assert stock > MUCH
        for is_counted in (True, False):
            assert not do(place, rewards, "claim(address,address,bool)", made_up, held.thief, is_counted)
        assert not do(place, rewards, "getRewardOwed(address,address)", made_up, held.thief)
        assert balance_of(held, token, rewards) == stock and balance_of(held, token, held.thief) == 0


@pytest.mark.parametrize("amount", [2**128, 2**128 + 1, 2**255 + 1, 2**256 - 2])
@pytest.mark.parametrize("symbol", ["WETH", "USDC"])
def test_a_market_gives_out_what_was_put_in_however_large_the_number(
    attacked: dict[str, Attacked], symbol: str, amount: int
) -> None:
    """A number that is cut short on its way is another number."""
    place = attacked["a loan"]
    held, token = place.held, place.held.coin(symbol)
    comet = address_of(held, "SimulatedComet")
    with undone(place.engine):
        held.caged.mint(symbol, comet, 2**256 - 1 - int(held.ask(token, "totalSupply() view returns (uint256)")))
        had = balance_of(held, token, comet), balance_of(held, token, held.thief)
        assert not do(place, comet, "withdraw(address,uint256)", token, amount)
        assert (balance_of(held, token, comet), balance_of(held, token, held.thief)) == had


HONEST, FEE_KEPT, ANSWERS_NO, SAID_ALONE = 0, 1, 4, 30
MOOD_SLOT, KEPT_SLOT = 5, 3


def make_moody(place: Attacked, *holders: str) -> str:
    """A token that each of them has ten of; what else it does is its mood, and both are written where it keeps them."""
    token = deploy(place.held.caged, "MoodyToken")
    for account in holders:
        slot = keccak(bytes.fromhex(account[2:]).rjust(32, b"\0") + KEPT_SLOT.to_bytes(32))
        place.engine.chain.state.set_storage(bytes.fromhex(token[2:]), int.from_bytes(slot), 10 * WAD)
    return token


def set_mood(place: Attacked, token: str, mood: int) -> None:
    place.engine.chain.state.set_storage(bytes.fromhex(token[2:]), MOOD_SLOT, mood)


@pytest.mark.parametrize("mood", [ANSWERS_NO, FEE_KEPT, SAID_ALONE], ids=["answers no", "keeps a fee", "lies"])
def test_an_order_that_was_not_paid_in_takes_nothing_of_anothers(attacked: dict[str, Attacked], mood: int) -> None:
    place = attacked["an order"]
    held, orders = place.held, address_of(place.held, "SimulatedTwamm")
    submit = "submit(address,address,uint256,uint256,uint256)"
    with undone(place.engine):
        token = make_moody(place, held.safe, held.thief)
        held.act(token, "approve(address,uint256)", orders, 10 * WAD)
        held.act(orders, submit, token, held.coin("USDC"), 10 * WAD, 1, 86_400)
        assert do(place, token, "approve(address,uint256)", orders, 10 * WAD)
        set_mood(place, token, mood)
        assert not do(place, orders, submit, token, held.coin("USDC"), 10 * WAD, 1, 86_400)
        set_mood(place, token, HONEST)
        held.act(orders, "close(uint256)", 1)
        assert balance_of(held, token, held.safe) == 10 * WAD


def test_what_buys_a_part_of_an_order_is_paid_in(attacked: dict[str, Attacked]) -> None:
    """A token that only says it moved buys nothing, and its owner is not owed what never came."""
    place = attacked["an order"]
    held, orders = place.held, address_of(place.held, "SimulatedTwamm")
    with undone(place.engine):
        token = make_moody(place, held.thief)
        assert do(place, token, "approve(address,uint256)", orders, 10 * WAD)
        held.act(orders, "submit(address,address,uint256,uint256,uint256)", held.coin("WETH"), token, WAD, WAD, 60)
        place.engine.advance(60)
        for mood in (ANSWERS_NO, FEE_KEPT, SAID_ALONE):
            set_mood(place, token, mood)
            assert not do(place, orders, "fill(uint256,uint256,uint256)", 1, WAD, WAD)
        set_mood(place, token, HONEST)
        assert do(place, orders, "fill(uint256,uint256,uint256)", 1, WAD, WAD)


def test_whoever_counts_rewards_again_and_again_does_not_stretch_them(attacked: dict[str, Attacked]) -> None:
    """What is to be paid over a week is paid within it, however often a stranger adds next to nothing."""
    place = attacked["shares of a pool"]
    held, site = place.held, place.held.site
    booster, rewards = (address_of(held, f"SimulatedConvex{part}") for part in ("Booster", "Rewards"))
    earned, week = "earned(address) view returns (uint256)", 7 * 86_400
    with undone(place.engine):
        assert do(place, booster, "earmarkRewards(uint256)", 0)
        place.engine.advance(week)
        site.give("WBTC", 10**8)
        site.transact(held.coin("WBTC"), "approve(address,uint256)", booster, 10**8)
        site.transact(booster, "addRewards(uint256,uint256)", 0, 10**8)
        had = held.ask(rewards, earned, held.safe)
        with undone(place.engine):
            place.engine.advance(week - 3_600)
            alone = held.ask(rewards, earned, held.safe) - had
        for _ in range(30):
            place.engine.advance(3)
            assert do(place, booster, "earmarkRewards(uint256)", 0)
        place.engine.advance(week - 3_600)
        counted = held.ask(rewards, earned, held.safe) - had
    assert counted >= alone > 10**6


def test_whoever_has_a_reward_paid_out_pays_it_to_who_earned_it(attacked: dict[str, Attacked]) -> None:
    place = attacked["shares of a pool"]
    held, token = place.held, place.held.coin("WBTC")
    rewards = address_of(held, "SimulatedConvexRewards")
    with undone(place.engine):
        due, had = held.ask(rewards, "earned(address) view returns (uint256)", held.safe), held.caged.balance("WBTC")
        assert do(place, rewards, "getReward(address,bool)", held.safe, True)
        assert held.caged.balance("WBTC") - had >= due > 0
        assert balance_of(held, token, held.thief) == 0


def test_a_service_that_no_operator_joined_slashes_nobody(attacked: dict[str, Attacked]) -> None:
    place = attacked["restaked ether"]
    held = place.held
    magnitudes = address_of(held, "SimulatedAllocationManager")
    operator, strategy = held.site.account("operator").address, address_of(held, "SimulatedStrategy")
    slash = "slashOperator(address,(address,uint32,address[],uint256[],string))"
    with undone(place.engine):
        assert do(place, magnitudes, "createOperatorSet()")
        assert do(place, magnitudes, "registerForOperatorSet(address,uint32)", held.thief, 0)
        before = place.look()
        assert not do(place, magnitudes, slash, held.thief, (operator, 0, [strategy], [WAD], ""))
        # Who joined is slashed, and nobody else.
        assert do(place, magnitudes, slash, held.thief, (held.thief, 0, [strategy], [WAD], ""))
        assert place.look() == before


def test_a_withdrawal_is_nobody_elses_whatever_is_written_into_it(attacked: dict[str, Attacked]) -> None:
    place = attacked["restaked ether"]
    held = place.held
    complete = next(one for one in held.said if one.name == "completeQueuedWithdrawal")
    staker, *rest = complete.args[0]
    with undone(place.engine):
        before = place.look()
        for changed in ((staker, rest[0], held.thief, *rest[2:]), (held.thief, rest[0], held.thief, *rest[2:])):
            for as_tokens in (True, False):
                assert not do(place, complete.at, complete.signature, changed, [held.coin("WETH")], as_tokens)
        assert place.look() == before


def test_what_was_unlocked_for_its_owner_is_taken_out_at_once_by_nobody_else(attacked: dict[str, Attacked]) -> None:
    """Ether that waits to be fetched is no more in the vault than if it had been handed over."""
    place = attacked["restaked tokens"]
    held, coin = place.held, liquid_restaking.COIN
    vault, guest = address_of(held, "SimulatedKelpWithdrawals"), held.site.account("guest")
    free = "getAssetsAvailableForInstantWithdrawal(address) view returns (uint256)"
    with undone(place.engine):
        most = held.ask(vault, free, coin) * WAD // liquid_restaking.KELP_PRICE
        assert most > 100 * WAD
        take = "instantWithdrawal(address,uint256,string)"
        assert do(place, vault, take, coin, most, "", by=guest)
        assert not do(place, vault, take, coin, 10 * WAD, "", by=guest)
        had = place.engine.balance(held.safe)
        held.act(vault, "completeWithdrawal(address,string)", coin, "")
        assert place.engine.balance(held.safe) - had == 10 * WAD * 106 // 100
