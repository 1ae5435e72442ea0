"""Convex over the gauge: rewards of two tokens, pools that are shut down, and claims that others make."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.curve.convex_tools import DEPOSIT, GET_REWARD, UNWRAP
from tools_app.protocols.curve.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call

pytestmark = pytest.mark.protocols("curve")
WAD, USD, DAY = 10**18, 10**6, 86_400
POOL, BOOSTER, REWARDS = (
    str(PROTOCOL.address(CHAIN_ID, key)) for key in ("pool_3pool", "convex_booster", "convex_rewards_3pool")
)


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    found = Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 50_000 * WAD, "USDC": 50_000 * USD}))
    found.act("curve_add_liquidity", pool=POOL, amounts=[str(10_000 * WAD), str(10_000 * USD), "0"])
    return found


def pass_time(chain: World, days: int) -> None:
    chain.rpc.call("evm_increaseTime", days * DAY)
    chain.rpc.call("evm_mine")


def as_deployer(chain: World, signature: str, *args: Any) -> None:
    chain.transact(derive_account("curve deployer"), BOOSTER, signature, *args)


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def test_staking_moves_no_worth_and_a_halt_takes_everything_out(chain: World, golem: Golem) -> None:
    (before,) = golem.positions()
    golem.act("convex_stake_lp", pool=POOL, amount="max")
    (after,) = golem.positions()
    assert after.legs == before.legs and after.facts["lp_at_convex"] == before.facts["lp_free"]
    pass_time(chain, 3)
    used = golem.leave([chain.tokens[symbol].address for symbol in ("DAI", "USDC", "USDT", "WBTC", "WETH")])
    assert used == ["convex_unstake_lp", "curve_remove_liquidity", "convex_claim_rewards"]
    assert golem.positions() == ()


def test_both_rewards_come_by_one_claim_and_the_shares_stay(chain: World, golem: Golem) -> None:
    assert refused(golem, "convex_claim_rewards", pool=POOL).code == "CONVEX_NOTHING_TO_CLAIM"
    golem.act("convex_stake_lp", pool=POOL, amount="max")
    pass_time(chain, 1)
    outcome = golem.act("convex_claim_rewards", pool=POOL)
    paid, beside = (outcome.deltas[chain.tokens[symbol].address] for symbol in ("WBTC", "WETH"))
    assert paid > 0 and beside == paid * 10**10 // 2
    (position,) = golem.positions()
    assert int(position.facts["lp_at_convex"]) > 0


def test_what_a_stranger_has_paid_out_to_the_golem_is_the_golem_s(chain: World, golem: Golem) -> None:
    golem.act("convex_stake_lp", pool=POOL, amount="max")
    pass_time(chain, 1)
    plan = golem.plan("convex_claim_rewards", pool=POOL)
    stranger = chain.new_account(WAD)
    chain.transact(stranger, REWARDS, "getReward(address,bool)", golem.address, False)
    assert chain.rpc.balance_of(chain.tokens["WBTC"].address, golem.address) > 0
    # The plan that was made before brings nothing any more, and does not say that it did.
    result = golem.simulate(plan)
    assert result.deltas.get(chain.tokens["WBTC"].address, 0) < plan.receives[0].bound
    golem.act("convex_unstake_lp", pool=POOL, amount="max")


def test_a_pool_that_is_shut_down_takes_nothing_and_lets_everything_out(chain: World, golem: Golem) -> None:
    golem.act("convex_stake_lp", pool=POOL, amount=str(5_000 * WAD))
    as_deployer(chain, "shutdownPool(uint256)", 0)
    assert refused(golem, "convex_stake_lp", pool=POOL, amount="max").code == "CONVEX_POOL_SHUTDOWN"
    (row,) = answer_of(make_context(chain, address=golem.address), "convex_get_pools")["pools"]
    assert row["is_shut_down"] is True
    golem.act("convex_unstake_lp", pool=POOL, amount="max")
    golem.act("curve_remove_liquidity", pool=POOL, lp_amount="max")


def test_a_reward_that_cannot_be_paid_keeps_nobody_in(chain: World, golem: Golem) -> None:
    golem.act("convex_stake_lp", pool=POOL, amount="max")
    pass_time(chain, 1)
    chain.rpc.call("anvil_setCode", chain.tokens["WBTC"].address, "0xfe")
    golem.check_measured(golem.plan("convex_unstake_lp", pool=POOL, amount="max", claim=False))


def counts(golem: Golem) -> int:
    """Base units of dollars that the one position counts as, each with its own decimals made eighteen."""
    (position,) = golem.positions()
    decimals = {token.address: token.decimals for token in golem.chain.tokens.values()}
    return sum(leg.raw * 10 ** (18 - decimals[leg.token]) for leg in position.legs)


def test_a_gift_to_the_booster_or_the_rewards_is_nobody_s_share(chain: World, golem: Golem) -> None:
    golem.act("convex_stake_lp", pool=POOL, amount="max")
    giver = Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 50_000 * WAD}))
    giver.act("curve_add_liquidity", pool=POOL, amounts=[str(20_000 * WAD), "0", "0"])
    (held,) = giver.positions()
    part = int(held.facts["lp_free"]) // 4
    lp = str(PROTOCOL.address(CHAIN_ID, "lp_3pool"))
    (before,) = golem.positions()
    for to in (BOOSTER, REWARDS):
        chain.transact(giver.account, lp, "transfer(address,uint256)", to, part)
        chain.transact(giver.account, chain.tokens["DAI"].address, "transfer(address,uint256)", to, 1_000 * WAD)
    (after,) = golem.positions()
    assert (after.legs, after.facts["lp_at_convex"]) == (before.legs, before.facts["lp_at_convex"])


def test_a_trade_that_pushes_the_pool_moves_nothing_of_what_is_staked(chain: World, golem: Golem) -> None:
    golem.act("convex_stake_lp", pool=POOL, amount="max")
    before = counts(golem)
    trader = chain.new_account(WAD, {"DAI": 500_000 * WAD})
    chain.transact(trader, chain.tokens["DAI"].address, "approve(address,uint256)", POOL, 500_000 * WAD)
    chain.transact(trader, POOL, "exchange(int128,int128,uint256,uint256)", 0, 1, 500_000 * WAD, 0)
    # The fee of the trade is what the pool keeps for everybody.
    assert before <= counts(golem) <= before * 10_005 // 10_000


def test_a_rate_ends_with_its_week(chain: World, golem: Golem) -> None:
    pass_time(chain, 8)
    (row,) = answer_of(make_context(chain, address=golem.address), "convex_get_pools")["pools"]
    assert row["crv_apy"] == "0"


def test_foreign_bytes_at_convex_are_a_veto(chain: World, golem: Golem) -> None:
    reader = make_context(chain, address=golem.address).chain()
    assert PROTOCOL.effects is not None
    for to, data in (
        (BOOSTER, encode_call(DEPOSIT, 1, 5, True)),
        (BOOSTER, encode_call(DEPOSIT, 0, 5, False)),
        (BOOSTER, encode_call("function earmarkRewards(uint256)", 0)),
        (REWARDS, encode_call(UNWRAP, 5, True)),
        (REWARDS, encode_call(GET_REWARD, golem.address, True)),
        (REWARDS, encode_call(GET_REWARD, "0x" + "66" * 20, False)),
        (REWARDS, encode_call("function withdraw(uint256,bool)", 5, False)),
    ):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(
                Call(to, data, 0, ""), earlier=(), account=golem.address, chain=reader, into=Effects()
            )
