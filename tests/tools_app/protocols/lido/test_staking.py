"""Staking, wrapping and leaving on the chain: every promise of a plan holds, and the account's worth stays."""

from __future__ import annotations

from typing import Any

import pytest

import tools_app.protocols.lido.tools.stake
import tools_app.protocols.lido.tools.withdraw  # noqa: F401  declares the tools
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.lido.staking import ETH, act, as_admin, at, list_of, report, worth
from tools_app.core.errors import GolemError, InsufficientBalance, Recovery
from tools_app.protocols.lido.protocol import PROTOCOL
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Act, PositionRef, Stuck, Wait, drive
from tools_app.toolkit.views import NATIVE

pytestmark = pytest.mark.protocols("lido")
FEW_WEI = 12


def refused(chain: World, account: Any, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        call_tool(make_context(chain, address=account.address), tool, **params)
    return found.value


def held_by_kind(chain: World, account: Any) -> dict[str, int]:
    """Wei by the position's name without protocol and chain; requests together."""
    sums: dict[str, int] = {}
    for position in list_of(chain, account):
        key = position.ref.id if position.ref.kind == "stake" else position.ref.kind
        sums[key] = sums.get(key, 0) + sum(leg.raw for leg in position.legs)
    return sums


def assert_kept(chain: World, account: Any, plan: TxPlan, before: dict[str, int]) -> None:
    """Every change the plan promised was met, and none that it did not speak of happened."""
    after = held_by_kind(chain, account)
    promised: dict[str, int] = {}
    for change in plan.changes:
        key = change.ref.id if change.kind == "stake" and change.ref else change.kind
        promised[key] = promised.get(key, 0) + change.bound
    for key in {*before, *after}:
        moved = after.get(key, 0) - before.get(key, 0)
        assert key in promised or moved == 0, key
        assert moved >= promised.get(key, 0), (key, moved, promised)


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["lido"] == dict(PROTOCOL.deployments(CHAIN_ID) or {})
    assert CHAIN_ID in PROTOCOL.simulated_on


@pytest.mark.parametrize("token", ["stETH", "wstETH"])
def test_what_is_staked_is_held_as_ether_and_told_from_the_receipt(chain: World, token: str) -> None:
    account = chain.new_account(20 * ETH)
    outcome = act(chain, account, "lido_stake", amount=str(10 * ETH + 7), output_token=token)
    assert_kept(chain, account, outcome.plan, {})
    assert 10 * ETH + 7 - FEW_WEI <= worth(list_of(chain, account)) <= 10 * ETH + 7
    told = report_of("lido_stake", outcome)
    assert told["eth_staked"] == str(10 * ETH + 7) and told["token_symbol"] == token and told["route"] == "direct"
    received = int(told["token_received"])
    assert chain.rpc.balance_of(at(token.lower()), account.address) == received
    assert outcome.plan.spends[0].token.address == NATIVE and not outcome.plan.receives


def test_nothing_stays_approved_and_only_dust_unwrapped(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(3 * ETH))
    allowed = chain.rpc.read(
        at("steth"), "allowance(address,address)", account.address, at("wsteth"), returns="(uint256)"
    )
    assert allowed[0] == 0
    assert chain.rpc.balance_of(at("steth"), account.address) <= 4


def test_wrapping_and_unwrapping_keep_what_the_plan_says_and_the_worth(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(5 * ETH), output_token="stETH")
    for tool, amount in (("lido_wrap", 3 * ETH), ("lido_unwrap", ETH), ("lido_wrap", ETH + 1)):
        before = held_by_kind(chain, account)
        outcome = act(chain, account, tool, amount=str(amount))
        assert_kept(chain, account, outcome.plan, before)
        assert abs(sum(before.values()) - worth(list_of(chain, account))) <= FEW_WEI
    told = report_of("lido_wrap", outcome)
    assert told["st_eth_wrapped"] == str(ETH + 1) and int(told["wst_eth_received"]) < ETH


def test_a_rebase_between_preview_and_commit_breaks_no_promise(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(5 * ETH))
    act(chain, account, "lido_stake", amount=str(5 * ETH), output_token="stETH")
    ctx = make_context(chain, address=account.address)
    plans = [
        call_tool(ctx, "lido_stake", amount=str(ETH)),
        call_tool(ctx, "lido_unwrap", amount=str(ETH)),
        call_tool(ctx, "lido_unstake", amounts=[str(ETH)], token="wstETH"),
        call_tool(ctx, "lido_unstake", amounts=[str(ETH), str(2 * ETH)]),
    ]
    report(chain, earned=90 * ETH)
    for plan in plans:
        before = held_by_kind(chain, account)
        run_plan(chain, account, plan)
        assert_kept(chain, account, plan, before)


def test_a_rebase_is_more_ether_in_a_position_and_never_another_position(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH), output_token="stETH")
    (before,) = list_of(chain, account)
    report(chain, earned=120 * ETH)
    (after,) = list_of(chain, account)
    assert after.ref == before.ref and before.legs[0].raw < after.legs[0].raw < before.legs[0].raw * 1_001 // 1_000


def test_requests_wait_in_the_queue_become_final_and_are_claimed(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH), output_token="stETH")
    before = held_by_kind(chain, account)
    outcome = act(chain, account, "lido_unstake", amounts=[str(3 * ETH), str(2 * ETH)])
    assert_kept(chain, account, outcome.plan, before)
    assert abs(worth(list_of(chain, account)) - sum(before.values())) <= FEW_WEI
    told = report_of("lido_unstake", outcome)
    ids = told["request_ids"]
    assert len(ids) == 2 and told["total_st_eth_queued"] == str(5 * ETH) and told["estimated_wait_time"] > 0
    requests = [each for each in list_of(chain, account) if each.ref.kind == "request"]
    assert [each.ref.id for each in requests] == ids
    assert all(each.legs[0].free_at is not None and each.legs[0].free_at > chain.timestamp() for each in requests)
    logs = [log for receipt in outcome.receipts for log in receipt.logs]
    assert PROTOCOL.positions is not None
    born = PROTOCOL.positions.born(logs, account.address, CHAIN_ID)
    assert born == tuple(each.ref for each in requests)

    early = refused(chain, account, "lido_claim_withdrawal", request_ids=ids)
    assert early.code == "WITHDRAWAL_NOT_FINAL" and early.next_step is Recovery.WAIT and early.data["resets_at"]
    report(chain, last_id=int(ids[0]), ether=10 * ETH)
    first, second = (each for each in list_of(chain, account) if each.ref.kind == "request")
    assert first.legs[0].free_at is None and second.legs[0].free_at is not None
    assert refused(chain, account, "lido_claim_withdrawal", request_ids=ids).data["request_ids"] == [ids[1]]
    report(chain, last_id=int(ids[1]), ether=10 * ETH)
    claimed = act(chain, account, "lido_claim_withdrawal", request_ids=ids)
    told = report_of("lido_claim_withdrawal", claimed)
    assert told["requests_claimed"] == ids
    assert int(told["eth_received"]) == claimed.plan.receives[0].expected
    assert abs(int(told["eth_received"]) - 5 * ETH) <= FEW_WEI
    assert [each.ref.kind for each in list_of(chain, account)] == ["stake"]
    assert refused(chain, account, "lido_claim_withdrawal", request_ids=ids[:1]).code == "WITHDRAWAL_REQUEST_NOT_FOUND"


def test_a_loss_before_it_is_final_makes_a_request_worth_less_and_says_so(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH), output_token="stETH")
    told = report_of("lido_unstake", act(chain, account, "lido_unstake", amounts=[str(4 * ETH)]))
    report(chain, lost=1_200 * ETH)
    (request,) = (each for each in list_of(chain, account) if each.ref.kind == "request")
    assert request.legs[0].raw < 4 * ETH and int(request.facts["loss_bps"]) > 0
    report(chain, last_id=int(told["request_ids"][0]), ether=10 * ETH)
    claimed = act(chain, account, "lido_claim_withdrawal", request_ids=told["request_ids"])
    assert claimed.deltas[NATIVE] == claimed.plan.receives[0].bound < 4 * ETH


def test_an_exit_goes_through_the_queue_to_the_last_wei_that_counts(chain: World) -> None:
    account = chain.new_account(3_000 * ETH)
    start = int(chain.rpc.call("eth_getBalance", account.address, "latest"), 16)
    act(chain, account, "lido_stake", amount=str(1_500 * ETH))
    act(chain, account, "lido_stake", amount=str(700 * ETH), output_token="stETH")
    assert PROTOCOL.exits is not None
    steps: list[str] = []
    for _ in range(20):
        next_steps = [PROTOCOL.exits.next_step(position, {}, chain.timestamp()) for position in list_of(chain, account)]
        doable = [step for step in next_steps if isinstance(step, Act)]
        if doable:
            steps.append(doable[0].tool)
            act(chain, account, doable[0].tool, **doable[0].params)
        elif any(isinstance(step, Wait) for step in next_steps):
            steps.append("wait")
            last = chain.rpc.read(at("queue"), "getLastRequestId()", returns="(uint256)")[0]
            report(chain, last_id=last, ether=3_000 * ETH)
        else:
            break
    assert steps[:2] == ["lido_unstake", "lido_unwrap"] or steps[0] == "lido_unwrap"
    assert steps[-1] == "lido_claim_withdrawal" and "wait" in steps
    assert worth(list_of(chain, account)) < 200
    end = int(chain.rpc.call("eth_getBalance", account.address, "latest"), 16)
    assert start - end < ETH // 10


def test_a_request_nobody_finalises_is_stuck_in_the_end(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH), output_token="stETH")
    act(chain, account, "lido_unstake", amounts=[str(ETH)])
    (request,) = (each for each in list_of(chain, account) if each.ref.kind == "request")
    assert PROTOCOL.exits is not None
    now = chain.timestamp()
    assert isinstance(PROTOCOL.exits.next_step(request, {}, now), Wait)
    assert isinstance(PROTOCOL.exits.next_step(request, {}, now + 61 * 86_400), Stuck)


def test_a_place_in_the_queue_that_was_given_away_is_gone(chain: World) -> None:
    account, other = chain.new_account(20 * ETH), chain.new_account(ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH), output_token="stETH")
    (request_id,) = report_of("lido_unstake", act(chain, account, "lido_unstake", amounts=[str(ETH)]))["request_ids"]
    transfer = "transferFrom(address,address,uint256)"
    chain.transact(account, at("queue"), transfer, account.address, other.address, int(request_id))
    assert [each.ref.kind for each in list_of(chain, account)] == ["stake"]
    assert [each.ref for each in list_of(chain, other)] == [PositionRef("lido", "request", CHAIN_ID, request_id)]
    assert refused(chain, account, "lido_claim_withdrawal", request_ids=[request_id]).code.endswith("NOT_FOUND")


def test_an_account_with_nothing_costs_one_batch_with_a_stake_two_and_with_requests_three(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    batches: list[int] = []

    def count(calls: Any) -> list[ReadOutcome]:
        batches.append(len(calls))
        return list(make_context(chain, address=account.address).chain().call_many(calls))

    assert PROTOCOL.positions is not None
    assert drive(PROTOCOL.positions.list(CHAIN_ID, account.address, ()), count) == ()
    assert len(batches) == 1
    act(chain, account, "lido_stake", amount=str(ETH), output_token="stETH")
    batches.clear()
    assert len(drive(PROTOCOL.positions.list(CHAIN_ID, account.address, ()), count)) == 1
    assert len(batches) == 2
    act(chain, account, "lido_unstake", amounts=[str(ETH // 2)])
    batches.clear()
    assert len(drive(PROTOCOL.positions.list(CHAIN_ID, account.address, ()), count)) == 2
    assert len(batches) <= 3


@pytest.mark.parametrize(
    ("setting", "tool", "params", "code", "recovery"),
    [
        (("steth", "pauseStaking()"), "lido_stake", {"amount": str(ETH)}, "STAKING_PAUSED", Recovery.WAIT),
        (
            ("steth", "setStakingLimit(uint256,uint256)", ETH // 2, 1),
            "lido_stake",
            {"amount": str(ETH)},
            "STAKE_LIMIT_REACHED",
            Recovery.WAIT,
        ),
        (
            ("queue", "pauseFor(bool)", True),
            "lido_unstake",
            {"amounts": [str(ETH)]},
            "WITHDRAWALS_PAUSED",
            Recovery.WAIT,
        ),
        (None, "lido_stake", {"amount": "3"}, "STAKE_TOO_SMALL", Recovery.FIX_PARAMS),
        (None, "lido_wrap", {"amount": "3"}, "STAKE_TOO_SMALL", Recovery.FIX_PARAMS),
        (None, "lido_unstake", {"amounts": ["99"]}, "WITHDRAWAL_AMOUNT_REFUSED", Recovery.FIX_PARAMS),
        (
            None,
            "lido_unstake",
            {"amounts": [str(ETH), str(1_000 * ETH + 1)]},
            "WITHDRAWAL_AMOUNT_REFUSED",
            Recovery.FIX_PARAMS,
        ),
        (None, "lido_claim_withdrawal", {"request_ids": ["0"]}, "WITHDRAWAL_REQUEST_NOT_FOUND", Recovery.FIX_PARAMS),
        (
            None,
            "lido_claim_withdrawal",
            {"request_ids": ["9999999"]},
            "WITHDRAWAL_REQUEST_NOT_FOUND",
            Recovery.FIX_PARAMS,
        ),
        (None, "lido_wrap", {"amount": str(5_000 * ETH)}, "INSUFFICIENT_BALANCE", Recovery.FIX_PARAMS),
        (None, "lido_stake", {"amount": str(5_000 * ETH)}, "INSUFFICIENT_BALANCE", Recovery.FIX_PARAMS),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_next_step(
    chain: World, setting: Any, tool: str, params: Any, code: str, recovery: Recovery
) -> None:
    account = chain.new_account(2_000 * ETH)
    act(chain, account, "lido_stake", amount=str(1_100 * ETH), output_token="stETH")
    if setting:
        as_admin(chain, *setting)
    found = refused(chain, account, tool, **params)
    assert (found.code, found.next_step) == (code, recovery)
    assert recovery is not Recovery.WAIT or found.cleared_by


def test_a_stalled_oracle_leaves_reads_and_ways_out_only(chain: World) -> None:
    account = chain.new_account(20 * ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH), output_token="stETH")
    as_admin(chain, "oracle", "setPunctual(bool)", False)
    chain.rpc.call("evm_increaseTime", 3 * 86_400)
    chain.rpc.call("evm_mine")
    for tool in ("lido_stake", "lido_wrap"):
        assert refused(chain, account, tool, amount=str(ETH)).code == "STAKING_ORACLE_STALLED"
    act(chain, account, "lido_unstake", amounts=[str(ETH)])
    assert {each.ref.kind for each in list_of(chain, account)} == {"stake", "request"}
    report(chain)
    act(chain, account, "lido_wrap", amount=str(ETH))


def test_amounts_no_one_can_have_are_refused_before_anything_is_read(chain: World) -> None:
    account = chain.new_account(ETH)
    for bad in ("0", "-1", "1.5", 1.5, str(2**256)):
        assert refused(chain, account, "lido_stake", amount=bad).code == "INVALID_PARAMS"
    assert refused(chain, account, "lido_unstake", amounts=[]).code == "INVALID_PARAMS"
    assert refused(chain, account, "lido_unstake", amounts=["1"], token="ETH").code == "INVALID_PARAMS"
    assert isinstance(refused(chain, account, "lido_unstake", amounts=[str(ETH)]), InsufficientBalance)
