"""Swaps through V4 pools by the Universal Router: planned by the tool, sent byte for byte, held to their promises."""

from __future__ import annotations

from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from golem_project.embedded.world.protocols.uniswap_v4 import HOOK, POOLS
from permits_app.safety.decoding import read_calls
from tests.evm.world import World
from tests.golem_project.world.test_uniswap_v4_world import key_of
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.errors import RouteNotTaken
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.protocols.uniswap.v4.pools import _state_words, find_usual_pools, read_states
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.pool_hooks import HookPower
from tools_app.toolkit.views import NATIVE

pytestmark = pytest.mark.protocols("uniswap_v4")

USD = 10**6
# token in, token out, amount in base units, exact output, route
WAYS = [
    pytest.param("DAI", "USDC", 1_000 * ETH, False, "v4:100", id="tokens"),
    pytest.param("USDC", "DAI", 1_000 * ETH, True, "v4:100", id="tokens-exact-output"),
    pytest.param("WBTC", "DAI", 10**6, False, "v4:3000>USDC>v4:100", id="two-pools"),
    pytest.param("WBTC", "DAI", 500 * ETH, True, "v4:3000>USDC>v4:100", id="two-pools-exact-output"),
    pytest.param("ETH", "USDC", ETH, False, "v4:500", id="coin-in"),
    pytest.param("ETH", "USDC", 300 * USD, True, "v4:500", id="coin-in-exact-output"),
    pytest.param("USDC", "ETH", 500 * USD, False, "v4:500", id="coin-out"),
    pytest.param("USDC", "ETH", ETH // 10, True, "v4:500", id="coin-out-exact-output"),
    pytest.param("WETH", "USDC", ETH, False, "v4:500", id="wrapped-coin-into-a-pool-of-the-coin"),
    pytest.param("WETH", "USDC", 300 * USD, True, "v4:500", id="wrapped-coin-in-exact-output"),
    pytest.param("USDC", "WETH", 500 * USD, False, "v4:500", id="wrapped-coin-out-of-a-pool-of-the-coin"),
    pytest.param("USDC", "WETH", ETH // 10, True, "v4:500", id="wrapped-coin-out-exact-output"),
    pytest.param("ETH", "DAI", ETH, False, "v4:500>USDC>v4:100", id="coin-in-two-pools"),
    pytest.param("DAI", "ETH", ETH // 10, True, "v4:100>USDC>v4:500", id="coin-out-two-pools-exact-output"),
]


def hooked_id(chain: World) -> str:
    """The pool whose hook sets the fee."""
    (pool,) = [pool for pool in POOLS if pool.hooks == HOOK]
    return PoolKey(*key_of(chain, pool)).pool_id


def rest_of(chain: World, symbols: tuple[str, ...]) -> dict[str, int]:
    """What lies with the router, which anybody may take."""
    v4 = v4_on(31337)
    assert v4 is not None
    held = {"ETH": int(chain.rpc.call("eth_getBalance", v4.router, "latest"), 16)}
    for symbol in symbols:
        address = chain.tokens[symbol].address
        (held[symbol],) = chain.rpc.read(address, "balanceOf(address)", v4.router, returns="(uint256)")
    return held


@pytest.mark.parametrize(("token_in", "token_out", "amount", "exact_output", "route"), WAYS)
def test_a_swap_through_v4_moves_what_its_quote_told_to_the_base_unit_and_leaves_nothing_with_anybody(
    chain: World, token_in: str, token_out: str, amount: int, exact_output: bool, route: str
) -> None:
    account = rich_account(chain)
    params = {"token_in": token_in, "token_out": token_out, "amount": str(amount), "exact_output": exact_output}
    quote = answer_of(make_context(chain, address=account.address), "uniswap_get_quote", route=route, **params)
    plan = plan_swap(chain, account, route=route, slippage_bps=300, **params)
    assert plan.details["route_name"] == quote["route_name"] == route
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())

    outcome = run_plan(chain, account, plan)

    spent, received = plan.spends[0], plan.receives[0]
    assert -outcome.deltas[spent.token.address] == spent.expected
    assert outcome.deltas[received.token.address] == received.expected
    assert {**read.spends} == {spent.token.address: spent.bound}
    assert {**read.receives} == {received.token.address: received.bound}
    assert set(read.recipients) == {account.address} and set(read.deadlines) == {plan.deadline}
    assert not any(rest_of(chain, ("DAI", "USDC", "WBTC", "WETH")).values())
    v4 = v4_on(31337)
    assert v4 is not None
    if spent.token.address != NATIVE:
        token = spent.token.address
        (left,) = chain.rpc.read(token, "allowance(address,address)", account.address, PERMIT2, returns="(uint256)")
        through = chain.rpc.read(
            PERMIT2,
            "allowance(address,address,address)",
            *(account.address, token, v4.router),
            returns="(uint160,uint48,uint48)",
        )
        assert (left, through[0]) == (0, 0)


@pytest.mark.parametrize("is_hard", [False, True])
@pytest.mark.parametrize("route", ["v2", "v3:500", "v4:500", "v2>USDC>v3:100", "v4:500>USDC>v4:100"])
def test_a_sandwich_between_preview_and_commit_gets_no_more_than_the_slippage_whichever_version_is_taken(
    chain: World, route: str, is_hard: bool
) -> None:
    bought = "DAI" if ">" in route else "USDC"
    account, attacker = rich_account(chain), chain.new_account(ETH, {"WETH": 20_000 * ETH})
    swap = {"token_in": "WETH", "token_out": bought, "amount": str(ETH), "route": route}
    plan = plan_swap(chain, account, slippage_bps=100, **swap)
    (wanted,) = plan.receives
    first = route.partition(">")[0]
    pushed = 1_000 if is_hard else 1
    push = {"token_in": "WETH", "token_out": "USDC", "amount": str(pushed * ETH), "route": first}
    before = plan_swap(chain, attacker, slippage_bps=9_000, **push)
    run_plan(chain, attacker, before)
    held = [balance(chain, account.address, symbol) for symbol in ("WETH", bought)]
    if not is_hard:
        got = run_plan(chain, account, plan).deltas[wanted.token.address]
        assert wanted.bound <= got < wanted.expected, "it was pushed, and the bound holds"
    else:
        with pytest.raises(AssertionError):
            run_plan(chain, account, plan)
        assert [balance(chain, account.address, symbol) for symbol in ("WETH", bought)] == held


def balance(chain: World, account: str, symbol: str) -> int:
    token = chain.tokens[symbol].address
    return int(chain.rpc.read(token, "balanceOf(address)", account, returns="(uint256)")[0])


def test_the_best_of_all_three_versions_is_taken_when_nothing_is_preferred(chain: World) -> None:
    account, stranger = rich_account(chain), chain.new_account(10 * ETH, {"DAI": 2_000_000 * ETH})
    params = {"token_in": "DAI", "token_out": "USDC"}
    pushed = {"amount": str(2_000_000 * ETH), "route": "v3:100", "slippage_bps": 5_000}
    run_plan(chain, stranger, plan_swap(chain, stranger, **params, **pushed))

    plan = plan_swap(chain, account, **params, amount=str(1_000 * ETH))
    assert plan.details["route_name"] == "v4:100"
    assert "v3:100" in plan.details["other_routes"]
    assert (plan.details["venue"], plan.hooks) == ("uniswap v4", ())
    run_plan(chain, account, plan)


def test_a_pool_with_a_hook_is_taken_only_when_it_is_named_and_the_plan_says_what_the_hook_could_do(
    chain: World,
) -> None:
    account, name = rich_account(chain), hooked_id(chain)
    params = {"token_in": "DAI", "token_out": "USDC", "amount": str(1_000 * ETH), "slippage_bps": 300}
    plain = plan_swap(chain, account, **params)
    assert plain.hooks == () and not any(name in other for other in plain.details["other_routes"])

    plan = plan_swap(chain, account, route=f"v4:{name}", **params)
    assert [(each.pool, each.address, each.powers) for each in plan.hooks] == [
        (name, HOOK, (HookPower.FEES, HookPower.TRADES))
    ]
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())
    assert tuple(read.hooks) == plan.hooks
    # The bounds are those of the best route without a hook.
    assert plan.receives[0].bound == plain.receives[0].bound
    outcome = run_plan(chain, account, plan)
    assert outcome.deltas[plan.receives[0].token.address] == plan.receives[0].expected


def test_the_fee_that_a_hook_sets_now_is_the_one_that_is_told(chain: World) -> None:
    name = hooked_id(chain)
    params = {"token_in": "DAI", "token_out": "USDC", "amount": str(1_000 * ETH), "route": f"v4:{name}"}

    def tell() -> Any:
        return answer_of(make_context(chain, address="0x" + "11" * 20), "uniswap_get_quote", **params)

    before = tell()
    chain.transact(chain.actors.deployer, HOOK, "setFee(uint24)", 50_000)
    after = tell()
    assert before["lp_fee_bps"] == 25
    assert int(after["amount_out"]) < int(before["amount_out"]) * 96 // 100


def test_a_pool_that_is_none_and_a_router_that_may_not_be_called_are_refused_with_what_to_do(chain: World) -> None:
    account = rich_account(chain)
    params = {"token_in": "DAI", "token_out": "USDC", "amount": str(1_000 * ETH)}
    with pytest.raises(RouteNotTaken, match="there is no route"):
        plan_swap(chain, account, route="v4:0x" + "ab" * 32, **params)


def test_nothing_of_v4_is_found_where_its_view_does_not_answer(chain: World) -> None:
    v4 = v4_on(31337)
    assert v4 is not None
    chain.rpc.call("anvil_setCode", v4.state_view, "0x")
    plan = plan_swap(chain, rich_account(chain), token_in="WBTC", token_out="DAI", amount=str(10**6))
    assert "v4" not in " ".join([plan.details["route_name"], *plan.details["other_routes"]])


def test_what_is_read_of_the_manager_s_own_words_is_what_its_view_tells(chain: World) -> None:
    v4, wrapped = v4_on(31337), deployment_on(31337).wrapped_native
    assert v4 is not None
    addresses = {"ETH": wrapped, **{symbol: token.address for symbol, token in chain.tokens.items()}}
    pairs = [(addresses[pool.symbols[0]], addresses[pool.symbols[1]]) for pool in POOLS]
    # The protocol takes a part of its own of the first pool, another one in each direction; the same word tells it.
    slot = "0x" + _state_words(PoolKey(*key_of(chain, POOLS[0])).pool_id)[0].hex()
    word = int(chain.rpc.call("eth_getStorageAt", v4.manager, slot, "latest"), 16) | 700 << 184 | 300 << 196
    chain.rpc.call("anvil_setStorageAt", v4.manager, slot, f"0x{word:064x}")

    reader = make_context(chain).chain()
    found = find_usual_pools(reader, v4, pairs, wrapped)

    assert sorted(pool.fee for pool in found) == [500, 700 + 100, 3_000]
    assert found == read_states(reader, found)
    assert {pool.pool_tick < 0 for pool in found} == {True, False}


def test_the_coin_is_the_first_currency_and_its_pool_is_told_as_all_others_are(chain: World) -> None:
    from tools_app.protocols.uniswap.markets import UniswapMarkets

    (pool,) = [pool for pool in POOLS if "ETH" in pool.symbols]
    reader = make_context(chain).chain()
    found = UniswapMarkets().read(reader, PoolKey(*key_of(chain, pool)).pool_id)
    assert int(found.token0, 16) < int(found.token1, 16)
    assert {found.token0, found.token1} == {deployment_on(31337).wrapped_native, chain.tokens["USDC"].address}
    (usual,) = [each for each in UniswapMarkets().find(reader, [(found.token0, found.token1)]) if each.fee == 500]
    ours, theirs = (each.spot.numerator * 10**24 // each.spot.denominator for each in (found, usual))
    assert abs(ours - theirs) * 200 < theirs
