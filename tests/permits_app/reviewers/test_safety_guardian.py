"""The guardian approves what the real tools plan, and vetoes the same bytes with one thing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from permits_app.models.spending import AllowlistMode
from permits_app.reviewers import safety_guardian
from permits_app.reviewers.review import Review, ReviewVerdict
from permits_app.safety.hook import HookCall
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import OTHER, ROUTER, USDC, WETH, live_call, open_position, plain_call, swap_call
from tools_app.chain.abi import decode_input, encode_call
from tools_app.standards import erc20
from tools_app.toolkit.effects import ChangeRead, Effects, RightRead
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionChange, PositionRef

ETH = 10**18
MULTICALL = "function multicall(uint256,bytes[])"
SINGLE = "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
MANAGER = "0x3203F1D71D84bc0aE92082755dDcB297F2b837C4"
MINT = "function mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
COLLECT = "function collect((uint256,address,uint128,uint128))"
RANGE = {"price_lower": "1", "price_upper": "100000"}

SWAPS = [
    ("USDC", "WETH", 500 * 10**6, False),
    ("WETH", "USDC", ETH // 10, False),
    ("USDC", "WETH", ETH // 10, True),
    ("USDT", "WETH", 500 * 10**6, False),
    ("WETH", "USDT", 700 * 10**6, True),
    ("FEE", "WETH", 100 * ETH, False),
    ("WETH", "FEE", ETH // 100, False),
    ("FEE", "ETH", 100 * ETH, False),
    ("ETH", "FEE", ETH // 100, False),
    ("ETH", "USDC", ETH // 10, False),
    ("USDC", "ETH", 500 * 10**6, False),
    ("ETH", "USDC", 300 * 10**6, True),
    ("USDC", "ETH", ETH // 10, True),
    ("ETH", "USDT", ETH // 10, False),
    ("USDT", "ETH", 500 * 10**6, False),
    ("ETH", "USDT", 300 * 10**6, True),
    ("USDT", "ETH", ETH // 10, True),
    ("WBTC", "DAI", 10**6, False),
    ("WBTC", "DAI", 500 * ETH, True),
    ("USDT", "DAI", 500 * 10**6, False),
    ("USDT", "DAI", 500 * ETH, True),
    ("WBTC", "USDT", 10**6, False),
    ("USDT", "WBTC", 500 * 10**6, False),
    ("FEE", "USDC", 100 * ETH, False),
    ("USDC", "FEE", 100 * 10**6, False),
]


def review(call: HookCall) -> Review:
    return safety_guardian.review(call)


def assert_veto(call: HookCall, words: str) -> None:
    found = review(call)
    assert found.verdict is ReviewVerdict.VETO, found
    assert any(words in reason for reason in found.reasons), found.reasons


def plan_of(call: HookCall) -> TxPlan:
    assert call.plan is not None
    return call.plan


def with_plan(call: HookCall, **changes: Any) -> HookCall:
    return replace(call, plan=replace(plan_of(call), **changes))


@pytest.fixture
def rich_golem(live_golem: LiveGolem, local_chain: World) -> LiveGolem:
    tokens = {"USDT": 100_000 * 10**6, "WBTC": 10**8, "FEE": 1_000 * ETH}
    local_chain.fund(live_golem.golem.address, 10 * ETH, tokens)
    return live_golem


@pytest.mark.parametrize(("token_in", "token_out", "amount", "exact_output"), SWAPS)
def test_every_kind_of_swap_the_tool_plans_is_approved(
    rich_golem: LiveGolem, token_in: str, token_out: str, amount: int, exact_output: bool
) -> None:
    call = swap_call(rich_golem, token_in=token_in, token_out=token_out, amount=str(amount), exact_output=exact_output)
    found = review(call)
    assert found.is_approved, found.reasons
    assert found.reasons == ()
    assert len(found.checks) == 15


def test_liquidity_plans_are_approved(rich_golem: LiveGolem, local_chain: World) -> None:
    add = live_call(
        rich_golem, "uniswap_lp_add_liquidity", {"token0": "WETH", "token1": "USDC", "amount1": "1000000000", **RANGE}
    )
    assert review(add).is_approved, review(add).reasons
    position_id = open_position(rich_golem, local_chain)
    for name, params in (
        ("uniswap_lp_increase_liquidity", {"amount1": "100000000"}),
        ("uniswap_lp_remove_liquidity", {"percent_to_remove": 50}),
        ("uniswap_lp_remove_liquidity", {"percent_to_remove": 100, "collect_fees": False}),
    ):
        found = review(live_call(rich_golem, name, {"position_id": position_id, **params}))
        assert found.is_approved, (name, found.reasons)


def test_a_plan_that_is_silent_about_a_position_or_speaks_of_another_is_vetoed(rich_golem: LiveGolem) -> None:
    call = live_call(
        rich_golem, "uniswap_lp_add_liquidity", {"token0": "WETH", "token1": "USDC", "amount1": "1000000000", **RANGE}
    )
    plan = plan_of(call)
    assert_veto(with_plan(call, changes=()), "the plan does not say so")
    elsewhere = replace(plan.changes[0], ref=PositionRef(plan.changes[0].protocol, "nft", 31337, "1"))
    assert_veto(with_plan(call, changes=(*plan.changes, elsewhere)), "the calls do not touch it")


def test_a_change_that_the_bytes_tell_exactly_is_held_to_what_rounding_takes(live_golem: LiveGolem) -> None:
    plan = plan_of(swap_call(live_golem))
    read = Effects(changes=[ChangeRead("bank", "account", WETH.address, 100)])
    told = PositionChange("bank", "account", WETH.address, expected=100, bound=99)
    assert safety_guardian.judge_changes(read, replace(plan, changes=(told,))) == []
    assert safety_guardian.judge_changes(read, replace(plan, changes=(replace(told, expected=98),))) == []
    (finding,) = safety_guardian.judge_changes(read, replace(plan, changes=(replace(told, expected=103),)))
    assert "by 100 base units; the plan says 103" in finding


def test_a_right_of_a_protocols_own_is_vetoed_unless_the_plan_names_who_gets_it(live_golem: LiveGolem) -> None:
    plan = plan_of(swap_call(live_golem))
    given = Effects(rights=[RightRead("0xbank", OTHER, -1)])
    assert "would get a right" in safety_guardian.judge_rights(given, plan)[0]
    assert safety_guardian.judge_rights(Effects(rights=[RightRead("0xbank", OTHER, 0)]), plan) == []
    left = AllowanceLeft(plan.tokens[0], OTHER, granted=1, left=0)
    assert safety_guardian.judge_rights(given, replace(plan, allowances=(left,))) == []


def test_a_local_write_has_no_bytes_to_judge() -> None:
    assert review(plain_call(None)).is_approved


def test_the_review_is_ready_to_be_kept(live_golem: LiveGolem) -> None:
    kept = review(swap_call(live_golem)).as_dict()
    assert kept["reviewer"] == "safety-guardian"
    assert kept["verdict"] == "APPROVE"
    assert kept["reasons"] == []


V2_LEG = "function swapExactTokensForTokens(uint256,uint256,address[],address)"
ROUTER_ITSELF = "0x0000000000000000000000000000000000000002"


def mixed_swap(call: HookCall, *legs: bytes) -> HookCall:
    """The swap of `call` replaced by these steps of the V3 router."""
    *before, swap = plan_of(call).calls
    data = encode_call(MULTICALL, plan_of(call).deadline, list(legs))
    return with_plan(call, calls=(*before, replace(swap, data=data)))


def test_a_swap_through_both_versions_is_read_leg_by_leg(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    account, least = live_golem.golem.address, plan_of(call).receives[0].bound
    dai = "0xE6237B7aD10F29E6816DB2f0a0AC3A68b87F25B8"
    first = encode_call(SINGLE, (USDC.address, dai, 100, ROUTER_ITSELF, 500_000_000, 0, 0))

    def last(amount: int, start: str, recipient: str) -> bytes:
        return encode_call(V2_LEG, amount, least, [start, WETH.address], recipient)

    assert review(mixed_swap(call, first, last(0, dai, account))).is_approved
    assert_veto(mixed_swap(call, first, last(0, dai, OTHER)), "which is not the golem")
    assert_veto(mixed_swap(call, first, last(5, dai, account)), "would keep what a swap brought")
    assert_veto(mixed_swap(call, first, last(0, USDC.address, account)), "would keep what a swap brought")
    assert_veto(mixed_swap(call, last(0, dai, account)), "happens to hold")
    assert_veto(mixed_swap(call, first), "would keep what a swap brought")


# ---- the same bytes, bent ------------------------------------------------------------------------------------------


def bend_swap(call: HookCall, change: Callable[[list[Any]], None]) -> HookCall:
    """The V3 swap of `call` with one argument of exactInputSingle changed by `change`."""
    *before, swap = plan_of(call).calls
    deadline, steps = decode_input(MULTICALL, swap.data)
    (arguments,) = decode_input(SINGLE, steps[0])
    bent = list(arguments)
    change(bent)
    data = encode_call(MULTICALL, deadline, [encode_call(SINGLE, tuple(bent)), *steps[1:]])
    return with_plan(call, calls=(*before, replace(swap, data=data)))


def put(index: int, value: Any) -> Callable[[list[Any]], None]:
    def change(arguments: list[Any]) -> None:
        arguments[index] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(put(3, OTHER), "which is not the golem", id="recipient"),
        pytest.param(put(4, 500_000_001), "may take 500000001", id="one-unit-more-spent"),
        pytest.param(put(4, 499_999_999), "may take 499999999", id="one-unit-less-spent"),
        pytest.param(put(5, 0), "demand 0 base units", id="no-minimum"),
        pytest.param(put(0, WETH.address), "may take 0", id="other-token-in"),
        pytest.param(put(2, 3001), "there is no pool", id="pool-that-does-not-exist"),
        pytest.param(put(6, 4295128740), "cannot be read", id="price-limit"),
        pytest.param(put(3, "0x0000000000000000000000000000000000000002"), "cannot be read", id="left-in-the-router"),
    ],
)
def test_a_swap_with_one_argument_changed_is_vetoed(
    live_golem: LiveGolem, change: Callable[[list[Any]], None], words: str
) -> None:
    call = swap_call(live_golem)
    assert review(bend_swap(call, lambda arguments: None)).is_approved
    assert_veto(bend_swap(call, change), words)


def test_a_minimum_one_unit_lower_than_promised_is_vetoed(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    least = plan_of(call).receives[0].bound
    assert_veto(bend_swap(call, put(5, least - 1)), f"demand {least - 1}")


@pytest.mark.parametrize("offset", [1, -1, 86_400])
def test_a_deadline_other_than_the_plans_is_vetoed(live_golem: LiveGolem, offset: int) -> None:
    call = swap_call(live_golem)
    deadline = plan_of(call).deadline
    assert deadline is not None
    assert_veto(with_plan(call, deadline=deadline + offset), "deadline")


def test_a_deadline_that_passed_is_vetoed(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    *before, swap = plan_of(call).calls
    _, steps = decode_input(MULTICALL, swap.data)
    late = replace(swap, data=encode_call(MULTICALL, 1_000, list(steps)))
    assert_veto(with_plan(call, calls=(*before, late), deadline=1_000), "the deadline passed")


@pytest.mark.parametrize(
    ("spender", "amount", "words"),
    [
        (ROUTER, 500_000_001, "would be allowed"),
        (ROUTER, 2**256 - 1, "would be allowed"),
        (OTHER, 500_000_000, "never calls it"),
    ],
)
def test_an_approval_of_more_or_for_another_is_vetoed(
    live_golem: LiveGolem, spender: str, amount: int, words: str
) -> None:
    call = swap_call(live_golem)
    _, swap = plan_of(call).calls
    approve = erc20.approve_exact(token=USDC, spender=spender, amount=amount)
    assert_veto(with_plan(call, calls=(approve, swap)), words)


@pytest.mark.parametrize(
    "data",
    [
        encode_call("function transferFrom(address,address,uint256)", OTHER, OTHER, 1),
        encode_call("function increaseAllowance(address,uint256)", ROUTER, 1),
        encode_call("function setApprovalForAll(address,bool)", OTHER, True),
        b"\xde\xad\xbe\xef",
        b"\x01",
    ],
)
def test_an_unknown_selector_is_vetoed_wherever_it_is_called(live_golem: LiveGolem, data: bytes) -> None:
    call = swap_call(live_golem)
    for target in (USDC.address, ROUTER, MANAGER, OTHER):
        extra = Call(target, data, 0, "harmless")
        assert_veto(with_plan(call, calls=(*plan_of(call).calls, extra)), "cannot be read")


def test_bytes_behind_the_arguments_are_vetoed(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    approve, swap = plan_of(call).calls
    padded = replace(approve, data=approve.data + bytes(32))
    assert_veto(with_plan(call, calls=(padded, swap)), "cannot be read")


def test_coin_sent_along_that_no_swap_uses_is_vetoed(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    approve, swap = plan_of(call).calls
    assert_veto(with_plan(call, calls=(approve, replace(swap, value=1))), "cannot be read")
    coin = swap_call(live_golem, token_in="ETH", token_out="USDC", amount=str(ETH // 10))
    (swap,) = plan_of(coin).calls
    assert_veto(with_plan(coin, calls=(replace(swap, value=swap.value + 1),)), "cannot be read")
    idle = replace(swap, data=encode_call(MULTICALL, plan_of(coin).deadline, []))
    assert_veto(with_plan(coin, calls=(idle,)), "sent coin that no swap uses")


def test_an_exact_output_that_keeps_the_change_is_vetoed(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem, token_in="ETH", token_out="USDC", amount="300000000", exact_output=True)
    assert review(call).is_approved
    (swap,) = plan_of(call).calls
    deadline, steps = decode_input(MULTICALL, swap.data)
    kept = replace(swap, data=encode_call(MULTICALL, deadline, list(steps[:1])))
    assert_veto(with_plan(call, calls=(kept,)), "cannot be read")


def test_a_v2_swap_to_another_is_vetoed(rich_golem: LiveGolem) -> None:
    call = swap_call(rich_golem, token_in="USDT", token_out="WETH")
    approve, swap = plan_of(call).calls
    signature = "function swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
    amount, least, path, _, deadline = decode_input(signature, swap.data)
    stolen = replace(swap, data=encode_call(signature, amount, least, list(path), OTHER, deadline))
    assert_veto(with_plan(call, calls=(approve, stolen)), "which is not the golem")


@pytest.mark.parametrize(
    ("index", "value", "words"),
    [(9, OTHER, "which is not the golem"), (6, 10**12, "may take"), (10, 1, "deadline passed")],
)
def test_a_position_opened_otherwise_than_planned_is_vetoed(
    live_golem: LiveGolem, index: int, value: Any, words: str
) -> None:
    params = {"token0": "WETH", "token1": "USDC", "amount1": "1000000000", **RANGE}
    call = live_call(live_golem, "uniswap_lp_add_liquidity", params)
    *before, mint = plan_of(call).calls
    (arguments,) = decode_input(MINT, mint.data)
    bent = list(arguments)
    bent[index] = value
    stolen = replace(mint, data=encode_call(MINT, tuple(bent)))
    assert_veto(with_plan(call, calls=(*before, stolen)), words)


def test_fees_collected_to_another_or_from_anothers_position_are_vetoed(
    rich_golem: LiveGolem, local_chain: World
) -> None:
    position_id = open_position(rich_golem, local_chain)
    call = live_call(rich_golem, "uniswap_lp_remove_liquidity", {"position_id": position_id})
    (take,) = plan_of(call).calls
    (steps,) = decode_input("function multicall(bytes[])", take.data)
    (arguments,) = decode_input(COLLECT, steps[1])
    stolen = encode_call(COLLECT, (arguments[0], OTHER, arguments[2], arguments[3]))
    data = encode_call("function multicall(bytes[])", [steps[0], stolen])
    assert_veto(with_plan(call, calls=(replace(take, data=data),)), "which is not the golem")
    foreign = encode_call(COLLECT, (1, rich_golem.golem.address, arguments[2], arguments[3]))
    assert_veto(with_plan(call, calls=(take, Call(MANAGER, foreign, 0, "Collect"))), "position 1 belongs to")


def test_a_withdrawal_that_demands_more_than_the_plan_promises_is_vetoed(
    rich_golem: LiveGolem, local_chain: World
) -> None:
    position_id = open_position(rich_golem, local_chain)
    call = live_call(rich_golem, "uniswap_lp_remove_liquidity", {"position_id": position_id})
    first, second = plan_of(call).receives
    assert review(call).is_approved
    assert_veto(with_plan(call, receives=(replace(first, bound=0), second)), "the plan promises 0")
    assert_veto(with_plan(call, receives=(second,)), "the plan promises 0")


# ---- price -----------------------------------------------------------------------------------------------------------


def test_an_exchange_that_loses_more_than_the_owner_accepts_is_vetoed(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    least = plan_of(call).receives[0].bound // 2
    bent = bend_swap(call, put(5, least))
    bent = with_plan(bent, receives=(TokenFlow(WETH, least, least),))
    assert_veto(bent, "are lost")


def test_a_pool_moved_away_from_the_feeds_is_no_place_for_a_deposit(live_golem: LiveGolem, local_chain: World) -> None:
    params = {"token0": "WETH", "token1": "USDC", "amount1": "1000000000", **RANGE}
    assert review(live_call(live_golem, "uniswap_lp_add_liquidity", params)).is_approved
    feed = local_chain.tokens["WETH"].feed
    deployer = local_chain.actors.deployer
    decimals = local_chain.rpc.read(feed, "decimals()", returns="(uint8)")
    decimals = decimals[0] if isinstance(decimals, list | tuple) else decimals
    local_chain.transact(deployer, feed, "setAnswer(int256)", 2_000 * 10**decimals)
    assert_veto(live_call(live_golem, "uniswap_lp_add_liquidity", params), "away from the feeds")


# ---- payments and failures -------------------------------------------------------------------------------------------


def test_a_payment_goes_to_whom_the_request_names_and_the_owner_knows(live_golem: LiveGolem) -> None:
    params = {"token": "USDC", "recipient": OTHER, "amount": "1000000"}
    call = live_call(live_golem, "wallet_transfer_token", params)
    known = replace(call, allowlist=call.allowlist | {("RECIPIENT", OTHER)})
    assert review(known).is_approved, review(known).reasons
    assert_veto(call, "would be paid")
    assert_veto(replace(known, params={**call.params, "recipient": ROUTER}), "would be paid")
    call.limits.allowlist_mode = AllowlistMode.OFF
    assert review(call).is_approved
    assert_veto(replace(call, params={}), "would be paid")


class BrokenReader:
    """A reader of which every question is an accident."""

    chain_id = 31337

    def __getattr__(self, name: str) -> Any:
        raise OSError("a secret path in the message")


def test_a_reviewer_that_breaks_vetoes_and_says_nothing_it_should_not(live_golem: LiveGolem) -> None:
    broken: Any = BrokenReader()
    found = review(replace(swap_call(live_golem), chain=broken))
    assert found.verdict is ReviewVerdict.VETO
    assert found.reasons == ("the reviewer failed and therefore vetoes",)
    assert "secret" not in str(found.as_dict())


def test_without_a_chain_or_on_an_unknown_one_it_vetoes(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    assert_veto(replace(call, chain=None), "no chain")
    assert_veto(with_plan(call, chain_id=999_999), "could not be read")


def test_what_the_bytes_take_is_held_to_the_owners_limits(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    assert review(call).is_approved
    call.limits.per_transaction_micro_usd = 100_000_000
    found = review(call)
    assert not found.is_approved
    assert "in one transaction" in " ".join(found.reasons)
