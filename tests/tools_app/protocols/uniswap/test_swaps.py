"""Swaps are planned by the tool, sent byte for byte on real Uniswap contracts, and held to their promises."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tools_app.chain.abi import decode_input
from tools_app.core.errors import GolemError, InsufficientBalance
from tools_app.protocols.uniswap import quoting
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.errors import InsufficientLiquidity, NoRoute, SameToken
from tools_app.protocols.uniswap.quoting import RouteQuote
from tools_app.protocols.uniswap.routing import find_routes
from tools_app.protocols.uniswap.v3 import plans as v3_plans
from tools_app.standards.calldata import calls
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE

ETH = 10**18

# token in, token out, amount in base units, exact output, the version the best route has
SWAPS = [
    pytest.param("USDC", "WETH", 500 * 10**6, False, "v3", id="v3-direct"),
    pytest.param("WETH", "USDC", ETH // 10, False, "v3", id="v3-direct-back"),
    pytest.param("USDC", "WETH", ETH // 10, True, "v3", id="v3-exact-output"),
    pytest.param("USDT", "WETH", 500 * 10**6, False, "v2", id="v2-token-that-returns-nothing"),
    pytest.param("WETH", "USDT", 700 * 10**6, True, "v2", id="v2-exact-output"),
    pytest.param("FEE", "WETH", 100 * ETH, False, "v2", id="v2-sells-a-token-with-transfer-fee"),
    pytest.param("WETH", "FEE", ETH // 10, False, "v2", id="v2-buys-a-token-with-transfer-fee"),
    pytest.param("FEE", "ETH", 100 * ETH, False, "v2", id="v2-transfer-fee-to-coin"),
    pytest.param("ETH", "FEE", ETH // 10, False, "v2", id="v2-coin-to-transfer-fee"),
    pytest.param("ETH", "USDC", ETH // 10, False, "v3", id="v3-coin-in"),
    pytest.param("USDC", "ETH", 500 * 10**6, False, "v3", id="v3-coin-out"),
    pytest.param("ETH", "USDC", 300 * 10**6, True, "v3", id="v3-coin-in-exact-output"),
    pytest.param("USDC", "ETH", ETH // 10, True, "v3", id="v3-coin-out-exact-output"),
    pytest.param("ETH", "USDT", ETH // 10, False, "v2", id="v2-coin-in"),
    pytest.param("USDT", "ETH", 500 * 10**6, False, "v2", id="v2-coin-out"),
    pytest.param("ETH", "USDT", 300 * 10**6, True, "v2", id="v2-coin-in-exact-output"),
    pytest.param("USDT", "ETH", ETH // 10, True, "v2", id="v2-coin-out-exact-output"),
    pytest.param("WBTC", "DAI", 10**6, False, "v3", id="v3-two-hops"),
    pytest.param("WBTC", "DAI", 500 * ETH, True, "v3", id="v3-two-hops-exact-output"),
    pytest.param("USDT", "DAI", 5, False, "v2", id="two-hops-of-dust"),
    pytest.param("WBTC", "USDT", 10**6, False, "v3", id="v3-into-v2"),
    pytest.param("USDT", "WBTC", 500 * 10**6, False, "v2", id="v2-into-v3"),
    pytest.param("FEE", "WBTC", 100 * ETH, False, "v2", id="v2-into-v3-sells-a-token-with-transfer-fee"),
    pytest.param("USDT", "USDC", 5_000 * 10**6, False, "v2", id="v2-into-v3-beats-v2-alone"),
    pytest.param("WBTC", "FEE", 10**6, False, "v3", id="v3-into-v2-buys-a-token-with-transfer-fee"),
    pytest.param("USDT", "DAI", 500 * ETH, True, "v2", id="v2-two-hops-exact-output"),
]


def rich_account(chain: World) -> Any:
    return chain.new_account(
        10 * ETH,
        {
            "USDC": 100_000 * 10**6,
            "USDT": 100_000 * 10**6,
            "WETH": 50 * ETH,
            "DAI": 100_000 * ETH,
            "WBTC": 10**8,
            "FEE": 1_000 * ETH,
        },
    )


def plan_swap(chain: World, account: Any, **params: Any) -> TxPlan:
    ctx = make_context(chain, address=account.address)
    plan: TxPlan = call_tool(ctx, "uniswap_execute_swap", **params)
    return plan


@pytest.mark.parametrize(("token_in", "token_out", "amount", "exact_output", "version"), SWAPS)
def test_a_swap_moves_exactly_what_its_plan_and_its_quote_promised(
    chain: World, token_in: str, token_out: str, amount: int, exact_output: bool, version: str
) -> None:
    account = rich_account(chain)
    params = {"token_in": token_in, "token_out": token_out, "amount": str(amount), "exact_output": exact_output}
    ctx = make_context(chain, address=account.address)
    quote = answer_of(ctx, "uniswap_get_quote", **params)
    plan = call_tool(ctx, "uniswap_execute_swap", **params)

    outcome = run_plan(chain, account, plan)

    spent, received = plan.spends[0], plan.receives[0]
    assert -outcome.deltas[spent.token.address] == spent.expected == int(quote["amount_in"])
    assert outcome.deltas[received.token.address] == received.expected == int(quote["amount_out"])
    assert (spent.expected if not exact_output else received.expected) == amount
    assert quote["route"][0]["version"] == version
    assert spent.expected <= spent.bound
    assert received.expected >= received.bound > 0
    assert plan.recipients == (account.address,)
    report = report_of("uniswap_execute_swap", outcome)
    assert report["slippage_actual_bps"] == 0
    assert report["amount_out"] == quote["amount_out"]
    assert report["tx_hash"] in {receipt.tx_hash for receipt in outcome.receipts}
    assert report["gas_used"] == sum(receipt.gas_used for receipt in outcome.receipts)


@pytest.mark.parametrize("is_exact_out", [False, True])
@pytest.mark.parametrize(("coin_in", "coin_out"), [(False, False), (True, False), (False, True)])
def test_the_router_unwraps_a_coin_that_is_bought_and_gives_back_what_is_left_of_one_that_is_sold(
    is_exact_out: bool, coin_in: bool, coin_out: bool
) -> None:
    call = v3_plans.swap(
        router=PERMIT2,
        path=("0x" + "11" * 20, "0x" + "22" * 20),
        fees=(500,),
        amount=7,
        limit=9,
        is_exact_out=is_exact_out,
        recipient="0x" + "33" * 20,
        deadline=1,
        coin_in=coin_in,
        coin_out=coin_out,
        label="a swap",
    )
    _, steps = decode_input(v3_plans.MULTICALL_UNTIL, call.data)
    unwraps = [decode_input(v3_plans.UNWRAP, each) for each in steps if calls(each, v3_plans.UNWRAP)]
    assert unwraps == ([(7 if is_exact_out else 9, "0x" + "33" * 20)] if coin_out else [])
    assert sum(calls(each, v3_plans.REFUND) for each in steps) == (coin_in and is_exact_out)
    assert len(steps) == 1 + coin_out + (coin_in and is_exact_out)
    assert call.value == ((9 if is_exact_out else 7) if coin_in else 0)


@pytest.mark.parametrize(("token_in", "token_out", "amount", "exact_output", "version"), SWAPS)
def test_a_swap_leaves_no_allowance_standing(
    chain: World, token_in: str, token_out: str, amount: int, exact_output: bool, version: str
) -> None:
    account = rich_account(chain)
    plan = plan_swap(
        chain, account, token_in=token_in, token_out=token_out, amount=str(amount), exact_output=exact_output
    )
    run_plan(chain, account, plan)
    assert all(allowance.left == 0 for allowance in plan.allowances)
    token = plan.spends[0].token.address
    if token != NATIVE:
        router = plan.details["router"]
        left = chain.rpc.read(token, "allowance(address,address)", account.address, router, returns="(uint256)")[0]
        assert left == 0


@pytest.mark.parametrize(("token_in", "token_out", "amount", "exact_output", "version"), SWAPS)
def test_the_gas_estimate_of_a_quote_is_near_the_receipt(
    chain: World, token_in: str, token_out: str, amount: int, exact_output: bool, version: str
) -> None:
    account = rich_account(chain)
    plan = plan_swap(
        chain, account, token_in=token_in, token_out=token_out, amount=str(amount), exact_output=exact_output
    )
    outcome = run_plan(chain, account, plan)
    swaps = [i for i, call in enumerate(plan.calls) if call.to == plan.details["router"]]
    used = outcome.receipts[swaps[-1]].gas_used
    assert abs(plan.details["gas_estimate"] - used) <= used * 20 // 100, (plan.details["gas_estimate"], used)


def test_another_pool_wins_once_the_best_one_was_traded_dear(chain: World) -> None:
    account = rich_account(chain)
    params = {"token_in": "USDC", "token_out": "WETH", "amount": str(1_000 * 10**6)}
    before = answer_of(make_context(chain, address=account.address), "uniswap_get_quote", **params)
    (hop,) = before["route"]
    whale = chain.new_account(ETH, {"USDC": 1_000_000 * 10**6})
    router = chain.contracts["uniswap_v3_swap_router_02"]
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    chain.transact(whale, usdc, "approve(address,uint256)", router, 1_000_000 * 10**6)
    chain.transact(
        whale,
        router,
        "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
        (usdc, weth, hop["fee_tier"], whale.address, 1_000_000 * 10**6, 0, 0),
    )
    after = answer_of(make_context(chain, address=account.address), "uniswap_get_quote", **params)
    assert hop["pool"] not in [other["pool"] for other in after["route"]]
    outcome = run_plan(chain, account, plan_swap(chain, account, **params))
    assert outcome.deltas[weth] == int(after["amount_out"])


def test_the_best_quote_is_the_best_of_every_pool_asked_alone(chain: World) -> None:
    amount = 20_000 * 10**6
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    quote = answer_of(make_context(chain), "uniswap_get_quote", token_in="USDC", token_out="WETH", amount=str(amount))
    outputs = []
    for fee in (500, 3_000):
        data = chain.rpc.read(
            chain.contracts["uniswap_v3_quoter_v2"],
            "quoteExactInputSingle((address,address,uint256,uint24,uint160))",
            (usdc, weth, amount, fee, 0),
            returns="(uint256,uint160,uint32,uint256)",
        )
        outputs.append(data[0])
    v2 = chain.rpc.read(
        chain.contracts["uniswap_v2_router"],
        "getAmountsOut(uint256,address[])",
        amount,
        [usdc, weth],
        returns="(uint256[])",
    )
    outputs.append(v2[0][-1])
    assert int(quote["amount_out"]) >= max(outputs)
    assert len(set(outputs)) == 3


@pytest.mark.parametrize("is_exact_out", [False, True])
@pytest.mark.parametrize(("sold", "bought"), [("USDC", "WETH"), ("DAI", "WETH"), ("WBTC", "USDC"), ("WETH", "DAI")])
def test_leaving_out_paths_that_cannot_win_never_changes_the_winner(
    world: World, monkeypatch: pytest.MonkeyPatch, sold: str, bought: str, is_exact_out: bool
) -> None:
    deployment = deployment_on(31337)
    usd_prices = {"USDC": 1, "DAI": 1, "WETH": 3_000, "WBTC": 60_000}
    for usd in (1, 500, 40_000, 1_500_000):
        of = bought if is_exact_out else sold
        amount = usd * 10 ** world.tokens[of].decimals // usd_prices[of]

        def best(amount: int = amount) -> RouteQuote:
            reader = make_context(world).chain()
            return find_routes(
                reader,
                deployment,
                token_in=reader.token(sold),
                token_out=reader.token(bought),
                amount=amount,
                is_exact_out=is_exact_out,
            ).best

        pruned = best()
        with monkeypatch.context() as patch:
            patch.setattr(quoting, "_can_beat", lambda *_: True)
            everything = best()
        assert (pruned.amount_in, pruned.amount_out) == (everything.amount_in, everything.amount_out)


def test_slippage_beyond_the_bound_reverts_the_swap(chain: World) -> None:
    account = rich_account(chain)
    plan = plan_swap(chain, account, token_in="USDC", token_out="WETH", amount=str(1_000 * 10**6), slippage_bps=10)
    whale = chain.new_account(ETH, {"USDC": 2_000_000 * 10**6})
    router = plan.details["router"]
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    chain.transact(whale, usdc, "approve(address,uint256)", router, 2_000_000 * 10**6)
    chain.transact(
        whale,
        router,
        "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
        (usdc, weth, plan.details["route"][0]["fee_tier"], whale.address, 2_000_000 * 10**6, 0, 0),
    )
    for call in plan.calls[:-1]:
        chain.send(account, call.to, "0x" + call.data.hex())
    receipt = chain.send(account, plan.calls[-1].to, "0x" + plan.calls[-1].data.hex())
    assert receipt["status"] == "0x0"


def test_a_swap_after_its_deadline_reverts(chain: World) -> None:
    account = rich_account(chain)
    plan = plan_swap(chain, account, token_in="USDC", token_out="WETH", amount="500000000", deadline=60)
    assert plan.deadline is not None
    chain.rpc.call("evm_setNextBlockTimestamp", plan.deadline + 1)
    receipts = [chain.send(account, call.to, "0x" + call.data.hex()) for call in plan.calls]
    assert receipts[-1]["status"] == "0x0"


@pytest.mark.parametrize(
    ("token_in", "token_out", "amount", "held", "expected"),
    [
        ("WETH", "USDC", ETH, {"WETH": 2 * ETH}, ActionClass.DECREASE_POSITION),
        ("WETH", "USDC", ETH, {"WETH": ETH}, ActionClass.CLOSE_POSITION),
        ("USDC", "WETH", 10**9, {"USDC": 10**9}, ActionClass.NEW_POSITION),
        ("USDC", "WETH", 10**9, {"USDC": 10**9, "WETH": 1}, ActionClass.INCREASE_POSITION),
        ("USDC", "ETH", 10**9, {"USDC": 10**9}, ActionClass.INCREASE_POSITION),
        ("WETH", "DAI", ETH, {"WETH": ETH}, ActionClass.REBALANCE),
    ],
)
def test_the_action_class_of_a_swap_follows_the_base_asset(
    chain: World, token_in: str, token_out: str, amount: int, held: dict[str, int], expected: ActionClass
) -> None:
    account = chain.new_account(ETH, held)
    plan = plan_swap(chain, account, token_in=token_in, token_out=token_out, amount=str(amount))
    assert plan.action_class is expected


def test_a_standing_allowance_is_used_and_a_smaller_one_is_reset_first(chain: World) -> None:
    account = rich_account(chain)
    usdt, router = chain.tokens["USDT"].address, chain.contracts["uniswap_v2_router"]
    params = {"token_in": "USDT", "token_out": "WETH", "amount": "500000000"}
    assert len(plan_swap(chain, account, **params).calls) == 2
    chain.transact(account, usdt, "approve(address,uint256)", router, 7)
    short = plan_swap(chain, account, **params)
    assert len(short.calls) == 3
    run_plan(chain, account, short)
    chain.transact(account, usdt, "approve(address,uint256)", router, 10**12)
    standing = plan_swap(chain, account, **params)
    assert len(standing.calls) == 1
    assert standing.allowances == ()
    run_plan(chain, account, standing)


def test_check_allowance_reads_what_the_chain_says(chain: World) -> None:
    account = rich_account(chain)
    router = chain.contracts["uniswap_v3_swap_router_02"]
    chain.transact(account, chain.tokens["USDC"].address, "approve(address,uint256)", router, 1_500_000)
    ctx = make_context(chain, address=account.address)
    answer = answer_of(ctx, "uniswap_check_allowance", token="USDC", amount="1500000")
    assert answer["allowance"] == "1500000"
    assert answer["allowance_units"] == "1.5 USDC"
    assert (answer["sufficient"], answer["needs_approval"]) == (True, False)
    assert answer["spender"] == router
    short = answer_of(ctx, "uniswap_check_allowance", token="USDC", amount="1500001")
    assert (short["sufficient"], short["needs_approval"]) == (False, True)


def test_check_allowance_gives_the_message_for_permit2_and_signs_nothing(chain: World) -> None:
    account, spender = rich_account(chain), "0x" + "42" * 20
    usdc = chain.tokens["USDC"].address
    asked = {"token": "USDC", "spender": spender, "amount": "1500000"}
    right = answer_of(make_context(chain, address=account.address), "uniswap_check_allowance", **asked)["permit2"]
    assert (right["allowance"], right["nonce"], right["sufficient"]) == ("0", 0, False)
    typed = json.loads(right["typed_data"])
    details = typed["message"]["details"]
    assert (details["token"], details["amount"], typed["message"]["spender"]) == (usdc, "1500000", spender)
    assert "signature" not in right["typed_data"].lower()
    # Allowed by now, so nothing is left to sign.
    until = details["expiration"]
    grant = "approve(address,address,uint160,uint48)"
    chain.transact(account, PERMIT2, grant, usdc, spender, 1_500_000, until)
    right = answer_of(make_context(chain, address=account.address), "uniswap_check_allowance", **asked)["permit2"]
    assert (right["allowance_units"], right["expiration"], right["sufficient"], right["typed_data"]) == (
        "1.5 USDC",
        until,
        True,
        None,
    )
    beyond = {**asked, "amount": str(2**160 + 1)}
    right = answer_of(make_context(chain, address=account.address), "uniswap_check_allowance", **beyond)["permit2"]
    assert json.loads(right["typed_data"])["message"]["details"]["amount"] == str(2**160 - 1)
    of_permit2 = answer_of(
        make_context(chain, address=account.address), "uniswap_check_allowance", token="USDC", spender=PERMIT2
    )
    assert of_permit2["permit2"] is None


def test_a_quote_shows_units_price_impact_and_gas_in_dollars(chain: World) -> None:
    answer = answer_of(
        make_context(chain), "uniswap_get_quote", token_in="WETH", token_out="USDC", amount=str(100 * ETH)
    )
    assert answer["amount_in_units"] == "100 WETH"
    assert answer["price_impact_bps"] > 0
    assert 2_500 < float(answer["effective_price"]) < 3_100
    assert float(answer["gas_estimate_usd"]) > 0
    assert answer["gas_estimate_usd_reason"] is None
    assert answer["route_type"] == "CLASSIC"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"token_in": "NOPE", "token_out": "WETH", "amount": "1000000"}, "TOKEN_NOT_FOUND"),
        ({"token_in": "USDC", "token_out": "USDC", "amount": "1000000"}, "ROUTING_SAME_TOKEN"),
        ({"token_in": "ETH", "token_out": "WETH", "amount": "1000000"}, "ROUTING_SAME_TOKEN"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "0"}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "-5"}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "1.5"}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": 1.5}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "1e6"}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": str(2**255)}, "ROUTING_INSUFFICIENT_LIQUIDITY"),
        (
            {"token_in": "USDC", "token_out": "WETH", "amount": str(10**30), "exact_output": True},
            "ROUTING_INSUFFICIENT_LIQUIDITY",
        ),
        ({"token_in": "WETH", "token_out": "USDC", "amount": "1"}, "ROUTING_AMOUNT_TOO_SMALL"),
        ({"token_in": "FEE", "token_out": "WETH", "amount": "1000", "exact_output": True}, "ROUTING_NO_ROUTE"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "1000000", "slippage_bps": 10_001}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "1000000", "deadline": 5}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "1000000", "chain_id": 5}, "CHAIN_NOT_SUPPORTED"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": "1000000", "recipient": "0x1"}, "INVALID_PARAMS"),
        ({"token_in": "USDC", "token_out": "WETH", "amount": str(10**12)}, "INSUFFICIENT_BALANCE"),
        ({"token_in": "ETH", "token_out": "USDC", "amount": str(11 * ETH)}, "INSUFFICIENT_BALANCE"),
    ],
)
def test_a_bad_swap_is_refused_with_its_code(chain: World, params: dict[str, Any], code: str) -> None:
    account = rich_account(chain)
    with pytest.raises(GolemError) as refused:
        call_tool(make_context(chain, address=account.address), "uniswap_execute_swap", **params)
    assert refused.value.code == code


def test_a_token_without_any_pool_has_no_route(chain: World) -> None:
    account = rich_account(chain)
    lonely = chain.deploy(account, "SimulatedToken", "(string,string,uint8)", "Lonely", "LONE", 18)
    with pytest.raises(NoRoute):
        call_tool(
            make_context(chain, address=account.address),
            "uniswap_get_quote",
            token_in=lonely,
            token_out="USDC",
            amount="1000000",
        )


def test_the_errors_of_a_swap_carry_what_a_reader_needs(chain: World) -> None:
    account = chain.new_account(ETH, {"USDC": 5})
    with pytest.raises(InsufficientBalance) as refused:
        plan_swap(chain, account, token_in="USDC", token_out="WETH", amount="1000000")
    assert refused.value.data["available"] == "5"
    assert refused.value.next_step == "FIX_PARAMS"
    with pytest.raises(SameToken):
        plan_swap(chain, account, token_in="USDC", token_out="USDC", amount="1000000")
    with pytest.raises(InsufficientLiquidity):
        plan_swap(chain, account, token_in="USDC", token_out="WETH", amount=str(2**250))
