"""A swap that names its route takes it, in the same round trips, or is refused; its bounds stay those of the best."""

from __future__ import annotations

from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, run_plan
from tests.tools_app.protocols.uniswap.more_pools import open_some
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tools_app.chain.rpc_pool import RpcPool
from tools_app.protocols.uniswap import likely_quotes, quoting
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.errors import RouteNotTaken
from tools_app.protocols.uniswap.quoting import ASKED_FIRST, RouteQuote
from tools_app.protocols.uniswap.routing import find_routes
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.keys import TIERS
from tools_app.protocols.uniswap.v4.pools import find_usual_pools


@pytest.mark.parametrize(
    ("sold", "bought", "amount", "exact_output"),
    [
        pytest.param("USDC", "WETH", 500 * 10**6, False, id="exact-input"),
        pytest.param("USDC", "WETH", ETH // 10, True, id="exact-output"),
        pytest.param("DAI", "WETH", 500 * ETH, False, id="over-a-hub"),
    ],
)
def test_every_route_a_quote_names_can_be_taken_and_none_loosens_a_bound(
    chain: World, sold: str, bought: str, amount: int, exact_output: bool
) -> None:
    account = rich_account(chain)
    params = {"token_in": sold, "token_out": bought, "amount": str(amount), "exact_output": exact_output}
    best = plan_swap(chain, account, slippage_bps=300, **params)
    names = [best.details["route_name"], *best.details["other_routes"]]
    assert len(names) >= 2 and len(set(names)) == len(names)
    for name in names:
        plan = plan_swap(chain, account, slippage_bps=300, route=name.lower(), **params)
        assert plan.details["route_name"] == name
        assert (plan.spends[0].bound, plan.receives[0].bound) == (best.spends[0].bound, best.receives[0].bound)
        snapshot = chain.rpc.call("evm_snapshot")
        outcome = run_plan(chain, account, plan)
        assert outcome.deltas[plan.receives[0].token.address] == plan.receives[0].expected
        assert -outcome.deltas[plan.spends[0].token.address] == plan.spends[0].expected
        chain.rpc.call("evm_revert", snapshot)


@pytest.mark.parametrize(
    ("route", "slippage_bps", "says"),
    [
        ("v3:10000", 100, "there is no route"),
        ("v2>WBTC>v3:500", 100, "there is no route"),
        ("v3:3000", 5, "worse than the best one by more than the slippage of 5 bps"),
    ],
)
def test_a_route_that_is_none_or_costs_more_than_the_slippage_is_refused(
    world: World, route: str, slippage_bps: int, says: str
) -> None:
    ctx = make_context(world, address="0x" + "11" * 20)
    with pytest.raises(RouteNotTaken, match=says):
        call_tool(
            ctx,
            "uniswap_execute_swap",
            token_in="USDC",
            token_out="WETH",
            amount=str(500 * 10**6),
            route=route,
            slippage_bps=slippage_bps,
        )


def test_a_preferred_route_costs_no_further_round_trip(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    account = rich_account(chain)
    reader_type = type(make_context(chain).chain())
    asked: list[int] = []
    ask = reader_type.call_many

    def count(reader: Any, calls: Any) -> Any:
        asked.append(len(calls))
        return ask(reader, calls)

    params = {"token_in": "USDC", "token_out": "WETH", "amount": str(500 * 10**6), "slippage_bps": 100}
    # Pools that are met for the first time cost a round trip more.
    plan_swap(chain, account, **params)
    monkeypatch.setattr(reader_type, "call_many", count)
    plan_swap(chain, account, **params)
    plain = len(asked)
    plan_swap(chain, account, route="v2", **params)
    assert plain > 0 and len(asked) == 2 * plain


def test_a_route_that_says_what_it_may_cost_gives_way_to_the_best_beyond_that(world: World) -> None:
    ctx = make_context(world, address="0x" + "11" * 20)
    params = {"token_in": "USDC", "token_out": "WETH", "amount": str(500 * 10**6)}

    def taken(route: str, slippage_bps: int = 50) -> str:
        found = call_tool(ctx, "uniswap_get_quote", **params)
        names = {found.route_name, *found.other_routes}
        assert route.partition("@")[0] in names
        routes = find_routes(
            ctx.chain(),
            deployment_on(31337),
            token_in=found.token_in,
            token_out=found.token_out,
            amount=500 * 10**6,
            preferred=route,
            slippage_bps=slippage_bps,
        )
        return routes.name

    assert (taken("v3:3000@40"), taken("v3:3000@10"), taken("v3:500@0")) == ("v3:3000", "v3:500", "v3:500")
    assert taken("v3:3000@40", slippage_bps=10) == "v3:500"


@pytest.mark.protocols("uniswap_v4")
@pytest.mark.parametrize("is_exact_out", [False, True])
def test_among_many_pools_few_are_asked_and_the_best_of_all_is_found(
    chain: World, monkeypatch: pytest.MonkeyPatch, is_exact_out: bool
) -> None:
    ends = ("DAI", "WBTC")
    open_some(chain, [ends, *((end, hub) for end in ends for hub in ("WETH", "USDC", "USDT"))], count=40)
    asked: list[int] = []
    ask = quoting._ask

    def note(reader: Any, place: Any, paths: Any, *rest: Any) -> list[RouteQuote]:
        asked.append(len(paths))
        return ask(reader, place, paths, *rest)

    def best(usd: int) -> tuple[int, int]:
        asked.clear()
        reader, raw = make_context(chain).chain(), usd * 10**8 // 60_000 if is_exact_out else usd * ETH
        found = find_routes(
            reader,
            deployment_on(31337),
            token_in=reader.token("DAI"),
            token_out=reader.token("WBTC"),
            amount=raw,
            is_exact_out=is_exact_out,
            may_call=lambda _: True,
        ).best
        return found.amount_in, found.amount_out

    monkeypatch.setattr(quoting, "_ask", note)
    for usd in (20, 3_000, 60_000):
        few, questions = best(usd), sum(asked)
        with monkeypatch.context() as patch:
            patch.setattr(quoting, "_can_beat", lambda *_: True)
            everything = best(usd)
        assert few == everything
        assert questions <= 2 * ASKED_FIRST < sum(asked)


@pytest.mark.protocols("uniswap_v4")
def test_the_same_question_at_another_amount_brings_its_quotes_with_the_pools_and_says_the_same(
    chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    send = RpcPool.send

    def note(pool: RpcPool, requests: Any, **options: Any) -> Any:
        sent.append(len(requests))
        return send(pool, requests, **options)

    def ask(amount: int) -> tuple[list[RouteQuote], int]:
        reader = make_context(chain).chain()
        assert reader.block
        sent.clear()
        found = find_routes(
            reader,
            deployment_on(31337),
            token_in=reader.token("DAI"),
            token_out=reader.token("WBTC"),
            amount=amount,
            may_call=lambda _: True,
        )
        return list(found.quotes), len(sent)

    monkeypatch.setattr(RpcPool, "send", note)
    ask(3_000 * ETH)
    # So large an amount wants another route, which is asked for as ever.
    for amount, expected in ((3_000 * ETH, 1), (40 * ETH, 1), (90_000 * ETH, 2)):
        quotes, round_trips = ask(amount)
        likely_quotes.forget()
        anew, round_trips_anew = ask(amount)
        assert (round_trips, round_trips_anew) == (expected, 2)
        # Gas too: a call that other calls ran before would have measured less.
        assert quotes == anew


@pytest.mark.protocols("uniswap_v4")
def test_a_v4_pool_that_is_opened_later_is_found_in_its_block_and_those_before_are_still_there(chain: World) -> None:
    v4, wrapped = v4_on(31337), deployment_on(31337).wrapped_native
    assert v4 is not None
    pairs = [(chain.tokens["DAI"].address, chain.tokens[symbol].address) for symbol in ("USDC", "WBTC")]

    def find() -> set[int]:
        return {pool.fee for pool in find_usual_pools(make_context(chain).chain(), v4, pairs, wrapped)}

    before = find()
    assert before and find() == before
    open_some(chain, [("DAI", "WBTC")], count=9)
    assert find() == {fee for fee, _ in TIERS}
    assert find() == {fee for fee, _ in TIERS}
