"""V3 positions are staked for rewards on Uniswap's own staker, earn, come back, and are the golem's all the while."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.liquidity
import tools_app.protocols.uniswap.tools.rewards
import tools_app.protocols.uniswap.tools.withdrawals  # noqa: F401  declares the tools
from permits_app.safety.decoding import read_calls
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.uniswap.campaigns import (
    DAY,
    ETH,
    list_claims,
    mining,
    open_incentive,
    pay_for_liquidity,
    tell,
)
from tests.tools_app.protocols.uniswap.test_liquidity import open_position, plan_of, rich_account
from tools_app.chain.abi import decode_input, encode_call
from tools_app.core.errors import GolemError
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.protocols.uniswap.liquidity_mining import plans
from tools_app.protocols.uniswap.liquidity_mining.incentives import IncentiveKey
from tools_app.protocols.uniswap.positions_in_logs import trails
from tools_app.protocols.uniswap.protocol import PROTOCOL
from tools_app.standards.position_logs import follow_trails
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call, ItemGiven
from tools_app.toolkit.positions import Act, Position, PositionRef
from tools_app.toolkit.protocol import SHELF

pytestmark = pytest.mark.protocols("uniswap_mining")

OWED = "getRewardInfo((address,address,uint256,uint256,address),uint256)"


def stake(chain: World, account: Any, position_id: str, **params: Any) -> None:
    run_plan(chain, account, plan_of(chain, account, "uniswap_lp_stake_position", position_id=position_id, **params))


def pass_a_day(chain: World) -> None:
    chain.rpc.call("evm_increaseTime", DAY)
    chain.rpc.call("evm_mine")


def hold(chain: World, account: Any, *ids: str) -> tuple[Position, ...]:
    """What the account has, with what was remembered of its positions."""
    hints = [PositionRef("uniswap", "nft", CHAIN_ID, each) for each in ids]
    found = read_positions(
        chain=make_context(chain, address=account.address).chain(), account=account.address, hints=hints
    )
    return tuple(each for each in found if each.ref.kind == "nft")


def refusal(chain: World, account: Any, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as caught:
        plan_of(chain, account, tool, **params)
    return caught.value


def test_a_staked_position_is_worth_the_same_says_where_it_is_and_is_found_in_the_logs(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    (before,) = hold(chain, account, position_id)
    open_incentive(chain)
    stake(chain, account, position_id)
    (staked,) = hold(chain, account, position_id)
    assert staked.ref == before.ref
    assert {leg.token: leg.raw for leg in staked.legs} == {leg.token: leg.raw for leg in before.legs}
    assert (staked.facts["is_at_staker"], staked.facts["stakes"]) == (True, "1")
    assert "at the staker" in staked.label
    step = PROTOCOL.exits and PROTOCOL.exits.next_step(staked, {}, 0)
    assert isinstance(step, Act) and step.tool == "uniswap_lp_unstake_position"
    # Somebody who imports the wallet later finds it again.
    reader = make_context(chain, address=account.address).chain()
    logs = follow_trails(reader, trails(CHAIN_ID, account.address), from_block=0, to_block=reader.block.number)
    assert PROTOCOL.positions is not None
    assert before.ref in PROTOCOL.positions.born(logs, account.address, CHAIN_ID)
    # It is nobody else's, whoever remembers it.
    assert hold(chain, rich_account(chain), position_id) == ()


def test_what_is_staked_is_not_closed_nor_collected_and_the_refusal_names_the_way_out(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    position_id, _ = open_position(chain, account)
    open_incentive(chain)
    stake(chain, account, position_id)
    for tool in ("uniswap_lp_remove_liquidity", "uniswap_lp_collect_fees", "uniswap_lp_stake_position"):
        refused = refusal(chain, account, tool, position_id=position_id)
        assert (refused.code, refused.data["next_tool"]) == ("POSITION_STAKED", "uniswap_lp_unstake_position")
    # Nobody else is told that it lies there.
    assert refusal(chain, stranger, "uniswap_lp_remove_liquidity", position_id=position_id).code == "POSITION_NOT_FOUND"
    assert refusal(chain, stranger, "uniswap_lp_unstake_position", position_id=position_id).code == "POSITION_NOT_FOUND"
    run_plan(chain, account, plan_of(chain, account, "uniswap_lp_unstake_position", position_id=position_id))
    closed = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id))
    assert all(closed.deltas[flow.token.address] > 0 for flow in closed.plan.receives)
    assert hold(chain, account, position_id) == ()


def test_two_positions_are_harvested_in_one_transaction_and_go_on_earning(chain: World) -> None:
    account = rich_account(chain)
    key = open_incentive(chain)
    ids = [open_position(chain, account)[0] for _ in range(2)]
    for each in ids:
        stake(chain, account, each)
    pass_a_day(chain)
    owed = sum(
        chain.rpc.read(mining().staker, OWED, key.parts, int(each), returns="(uint256,uint160)")[0] for each in ids
    )
    outcome = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_harvest_rewards"))
    assert len(outcome.receipts) == 1
    told = report_of("uniswap_lp_harvest_rewards", outcome)
    assert sorted(told["positions_harvested"]) == sorted(ids) and told["came_back"] == told["left_out"] == []
    (reward,) = told["total_rewards"]
    # A few seconds more have passed than when we looked.
    assert 0 <= int(reward["amount"]) - owed < owed // 1_000
    assert abs(float(reward["value_usd"]) - int(reward["amount"]) / ETH) < 1
    assert {each.facts.get("stakes") for each in hold(chain, account, *ids)} == {"1"}
    pass_a_day(chain)
    again = answer_of(make_context(chain, address=account.address), "uniswap_lp_get_rewards")
    assert all(int(each["stakes"][0]["owed"]) > 0 for each in again["positions"])


def test_a_day_pays_the_share_of_the_liquidity_in_range_and_nothing_while_the_price_is_outside(chain: World) -> None:
    account = rich_account(chain)
    inside, minted = open_position(chain, account)
    outside, _ = open_position(chain, account, price_lower="3400", price_upper="4000")
    key = open_incentive(chain)
    for each in (inside, outside):
        stake(chain, account, each)
    pass_a_day(chain)
    told = answer_of(make_context(chain, address=account.address), "uniswap_lp_get_rewards")
    owed = {each["position_id"]: int(each["stakes"][0]["owed"]) for each in told["positions"]}
    whole = chain.rpc.read(key.pool, "liquidity()", returns="(uint128)")[0]
    by_share = 1_000 * ETH * int(minted.plan.details["liquidity"]) // whole
    assert abs(owed[inside] - by_share) < by_share // 500
    assert owed[outside] == 0
    assert refusal(chain, account, "uniswap_lp_claim_rewards", position_id=outside).code == "NO_REWARDS"


def test_what_a_stranger_unstakes_after_the_end_is_claimed_all_the_same_and_comes_back(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    position_id, _ = open_position(chain, account)
    key = open_incentive(chain, reward=1_000 * ETH, days=1)
    stake(chain, account, position_id)
    pass_a_day(chain)
    chain.transact(
        stranger,
        mining().staker,
        "unstakeToken((address,address,uint256,uint256,address),uint256)",
        key.parts,
        int(position_id),
    )
    told = answer_of(make_context(chain, address=account.address), "uniswap_lp_get_rewards")
    credited = int(told["credited"][0]["amount"])
    assert credited > 0 and told["positions"][0]["stakes"] == []
    outcome = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_claim_rewards", position_id=position_id))
    report = report_of("uniswap_lp_claim_rewards", outcome)
    assert int(report["rewards"][0]["amount"]) == credited
    assert report["is_still_staked"] is False
    (back,) = hold(chain, account, position_id)
    assert "is_at_staker" not in back.facts


def test_of_two_incentives_the_one_that_pays_more_dollars_a_second_is_taken_and_a_token_of_a_stranger_never(
    chain: World,
) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    crook = chain.new_account(ETH)
    fake = chain.deploy(crook, "SimulatedToken", "(string,string,uint8)", "Dai Stablecoin", "DAI", 18)
    chain.transact(crook, fake, "mint(address,uint256)", crook.address, 10**30)
    spam = pay_for_liquidity(chain, crook, fake, reward=10**30, days=365)
    open_incentive(chain, reward=10**9 * 365, symbol="USDC")
    best = open_incentive(chain, reward=100_000 * ETH, days=30)
    told = answer_of(make_context(chain, address=account.address), "uniswap_lp_get_rewards", position_id=position_id)
    assert [each["incentive"] for each in told["running"]][0] == str(best)
    assert str(spam) not in [each["incentive"] for each in told["running"]]
    plan = plan_of(chain, account, "uniswap_lp_stake_position", position_id=position_id)
    assert plan.details["incentive"] == str(best)
    # Whoever names it gets it, and its token stops nobody's way out.
    stake(chain, account, position_id, incentive=str(spam))
    pass_a_day(chain)
    outcome = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_unstake_position", position_id=position_id))
    assert report_of("uniswap_lp_unstake_position", outcome)["left_at_staker"] == [fake]
    assert outcome.plan.receives == ()
    # What it left there is fetched by its incentive's name.
    fetched = plan_of(chain, account, "uniswap_lp_claim_rewards", position_id=position_id, incentive=str(spam))
    assert run_plan(chain, account, fetched).deltas[fake] > 0


def test_an_incentive_that_no_log_tells_is_named_by_its_parts(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    key = open_incentive(chain)
    stake(chain, account, position_id)
    pass_a_day(chain)
    head = int(chain.rpc.call("eth_blockNumber"), 16)
    # As on a chain whose logs reach back a few blocks alone.
    monkeypatch.setattr("tools_app.protocols.uniswap.liquidity_mining.stakes.since", lambda reader: head)
    for tool in ("uniswap_lp_claim_rewards", "uniswap_lp_unstake_position"):
        refused = refusal(chain, account, tool, position_id=position_id)
        assert (refused.code, refused.data["known_since"]) == ("INCENTIVE_NOT_FOUND", head)
        plan = plan_of(chain, account, tool, position_id=position_id, incentive=str(key).lower())
        assert plan.receives[0].expected > 0
    # A name of another incentive is no way around.
    other = IncentiveKey(key.reward_token, key.pool, key.starts_at, key.ends_at + 1, key.refundee)
    assert refusal(chain, account, "uniswap_lp_claim_rewards", position_id=position_id, incentive=str(other)).code == (
        "INCENTIVE_NOT_FOUND"
    )


def test_a_claim_of_a_list_is_paid_once_to_whom_it_names_and_to_nobody_else(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    mine, other = list_claims(chain, [(account.address, 7 * ETH), (stranger.address, 9 * ETH)])
    tool = "uniswap_lp_claim_rewards"
    for wrong in (other, tell(0, 8 * ETH, []), json.dumps({**json.loads(mine), "index": "1"})):
        assert refusal(chain, account, tool, listed_claim=wrong).code == "CLAIM_NOT_LISTED"
    assert (
        refusal(chain, account, tool, listed_claim=mine, reward_contract=mining().staker).code
        == "REWARD_CONTRACT_UNKNOWN"
    )
    outcome = run_plan(chain, account, plan_of(chain, account, tool, listed_claim=mine, reward_contract="auto"))
    (reward,) = report_of(tool, outcome)["rewards"]
    assert int(reward["amount"]) == 7 * ETH
    assert refusal(chain, account, tool, listed_claim=mine).code == "CLAIM_NOT_LISTED"


def test_every_step_of_the_staker_that_pays_or_hands_to_others_is_refused_or_told(chain: World) -> None:
    account, thief = rich_account(chain), rich_account(chain)
    position_id, _ = open_position(chain, account)
    key = open_incentive(chain)
    stake(chain, account, position_id)
    pass_a_day(chain)
    reader = make_context(chain, address=account.address).chain()
    staker, number = mining().staker, int(position_id)
    manager = chain.contracts["uniswap_v3_position_manager"]

    def read(signature: str, *arguments: Any, to: str = staker) -> Any:
        return read_calls(
            (Call(to, encode_call(signature, *arguments), 0, "a call"),), account=account.address, chain=reader
        )

    given = "function transferDeposit(uint256,address)"
    for refused in (
        lambda: read(given, number, thief.address),
        lambda: read(plans.CLAIM, key.reward_token, account.address, 1),
        lambda: read(plans.WITHDRAW, number, account.address, b"\x01"),
        lambda: read(plans.HAND_IN, account.address, thief.address, number, b"", to=manager),
        lambda: read(plans.HAND_IN, account.address, staker, number, key.encoded, to=manager),
        lambda: read(plans.MULTICALL, [encode_call(given, number, thief.address)]),
    ):
        with pytest.raises(UnknownCall):
            refused()
    assert read(plans.WITHDRAW, number, thief.address, b"").recipients == [thief.address]
    assert read(plans.WITHDRAW, number, thief.address, b"").items == [ItemGiven(manager, number, thief.address)]
    assert read(plans.CLAIM, key.reward_token, thief.address, 0).recipients == [thief.address]
    (said,) = read(plans.UNSTAKE, key.parts, number).statements
    assert (said.subject, said.key, said.text) == (f"position {number}", "unstaked", str(key))


def test_a_deposit_that_a_stranger_gives_is_the_golem_s_and_stops_nothing(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    mine, theirs = open_position(chain, account)[0], open_position(chain, stranger)[0]
    open_incentive(chain)
    stake(chain, account, mine)
    stake(chain, stranger, theirs)
    chain.transact(stranger, mining().staker, "transferDeposit(uint256,address)", int(theirs), account.address)
    pass_a_day(chain)
    assert len(hold(chain, account, mine, theirs)) == 2
    outcome = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_harvest_rewards"))
    assert sorted(report_of("uniswap_lp_harvest_rewards", outcome)["positions_harvested"]) == sorted((mine, theirs))
    run_plan(chain, account, plan_of(chain, account, "uniswap_lp_unstake_position", position_id=mine))


def test_an_incentive_that_ends_within_ten_minutes_is_not_staked_in(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    key = open_incentive(chain, days=1)
    tool = "uniswap_lp_stake_position"
    for before, code in ((601, ""), (600, "INCENTIVE_NOT_FOUND")):
        chain.rpc.call("evm_setNextBlockTimestamp", key.ends_at - before)
        chain.rpc.call("evm_mine")
        if code:
            assert refusal(chain, account, tool, position_id=position_id).code == code
        else:
            assert plan_of(chain, account, tool, position_id=position_id).details["incentive"] == str(key)


def test_twenty_positions_are_one_harvest_and_a_claim_of_a_list_has_six_thousand_characters_at_most(
    chain: World,
) -> None:
    account = rich_account(chain)
    for count, code in ((20, "NO_REWARDS"), (21, "INVALID_PARAMS")):
        ids = [str(900_000 + each) for each in range(count)]
        assert refusal(chain, account, "uniswap_lp_harvest_rewards", positions=ids).code == code
    text = tell(0, ETH, [])
    for length, code in ((6_000, "CLAIM_NOT_LISTED"), (6_001, "INVALID_PARAMS")):
        padded = text + " " * (length - len(text))
        assert refusal(chain, account, "uniswap_lp_claim_rewards", listed_claim=padded).code == code


def test_a_halt_signs_unstaking_towards_the_golem_and_neither_staking_nor_giving_away() -> None:
    signatures = {each.signature for each in PROTOCOL.leaving if each.key == "v3_staker"}
    assert signatures == {plans.MULTICALL, plans.UNSTAKE, plans.CLAIM, plans.WITHDRAW}
    assert {each.own for each in PROTOCOL.leaving if each.signature in (plans.CLAIM, plans.WITHDRAW)} == {((1,),)}
    found = SHELF.get("uniswap")
    assert found is not None and "staker" in found.uncaged
    assert decode_input(plans.WITHDRAW, encode_call(plans.WITHDRAW, 7, "0x" + "11" * 20, b""))[0] == 7


def test_the_tools_refuse_where_no_staker_is_known(chain: World) -> None:
    with pytest.raises(GolemError) as caught:
        call_tool(make_context(chain, address=rich_account(chain).address), "uniswap_lp_harvest_rewards", chain_id=56)
    assert caught.value.code in ("CHAIN_NOT_SUPPORTED", "CHAIN_NOT_ALLOWED", "CHAIN_NOT_CONFIGURED")
