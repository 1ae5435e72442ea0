"""V4 positions are opened, grown, harvested and burned by their plans on the real manager, to the base unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import encode

import tools_app.protocols.uniswap.tools.liquidity
import tools_app.protocols.uniswap.tools.swaps
import tools_app.protocols.uniswap.tools.withdrawals  # noqa: F401  declares the tools
from golem_project.embedded.world.protocols.uniswap_v4 import POOLS
from permits_app.safety.decoding import read_calls
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.world.test_uniswap_v4_world import key_of
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.uniswap.test_liquidity import check_promises
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tests.tools_app.protocols.uniswap.v4_hooks import EXIT_TAXER, contracts, open_hooked_pool
from tools_app.chain.abi import decode_input
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.pools import find_v3_pool
from tools_app.protocols.uniswap.protocol import PROTOCOL
from tools_app.protocols.uniswap.v4 import liquidity_plans
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.protocols.uniswap.v4.positions import NEWEST, list_newest
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.exit_conditions import There
from tools_app.toolkit.markets import PositionNotFound, sort_tokens
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import Act, Position, PositionRef, drive
from tools_app.toolkit.views import NATIVE

pytestmark = pytest.mark.protocols("uniswap_v4")

USD = 10**6
WAYS = {
    "tokens": (0, {"token0": "DAI", "token1": "USDC", "price_lower": "0.9", "price_upper": "1.1"}, 1_000 * ETH),
    "coin": (2, {"token0": "ETH", "token1": "USDC", "price_lower": "2700", "price_upper": "3300"}, ETH),
}


def key(chain: World, index: int) -> PoolKey:
    return PoolKey(*key_of(chain, POOLS[index]))


def plan_of(chain: World, account: Any, tool: str, **params: Any) -> TxPlan:
    plan: TxPlan = call_tool(make_context(chain, address=account.address), tool, **params)
    return plan


def open_plan(chain: World, account: Any, way: str = "tokens", **params: Any) -> TxPlan:
    index, wanted, amount = WAYS[way]
    params = {**wanted, "pool": key(chain, index).pool_id, "amount0": str(amount), **params}
    return plan_of(chain, account, "uniswap_lp_add_liquidity", **params)


def open_position(chain: World, account: Any, way: str = "tokens", **params: Any) -> str:
    outcome = run_plan(chain, account, open_plan(chain, account, way, **params))
    position_id: str = report_of("uniswap_lp_add_liquidity", outcome)["position_id"]
    return position_id


def trade_back_and_forth(chain: World, way: str) -> None:
    """A stranger sells and buys back in the pool, which pays fees to its positions and hardly moves its price."""
    trader = rich_account(chain)
    symbol, other, route, amount = {
        "tokens": ("DAI", "USDC", "v4:100", 20_000 * ETH),
        "coin": ("ETH", "USDC", "v4:500", ETH),
    }[way]
    sold = plan_swap(chain, trader, token_in=symbol, token_out=other, amount=str(amount), route=route, slippage_bps=500)
    brought = run_plan(chain, trader, sold).deltas[sold.receives[0].token.address]
    back = plan_swap(
        chain, trader, token_in=other, token_out=symbol, amount=str(brought), route=route, slippage_bps=500
    )
    run_plan(chain, trader, back)


def held_of(chain: World, account: Any, *ids: str) -> tuple[Position, ...]:
    reader = make_context(chain, address=account.address).chain()
    assert PROTOCOL.positions is not None
    hints = [PositionRef("uniswap", "nft", CHAIN_ID, each) for each in ids]
    return drive(PROTOCOL.positions.list(CHAIN_ID, account.address, hints), reader.call_many)


def rights_left(chain: World, account: Any, symbols: Sequence[str]) -> list[int]:
    """What anybody may still take: of the token itself, and through Permit2."""
    found = []
    for symbol in symbols:
        token = chain.tokens[symbol].address
        (left,) = chain.rpc.read(token, "allowance(address,address)", account.address, PERMIT2, returns="(uint256)")
        through = chain.rpc.read(
            PERMIT2,
            "allowance(address,address,address)",
            *(account.address, token, contracts().positions),
            returns="(uint160,uint48,uint48)",
        )
        found += [left, through[0]]
    return found


def check_read(chain: World, account: Any, plan: TxPlan) -> None:
    """Who reads the bytes finds the plan's bounds, its recipient, its deadline and its positions."""
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())
    assert {k: v for k, v in read.spends.items() if v} == {
        each.token.address: each.bound for each in plan.spends if each.bound
    }
    # What grows pays whoever calls: its fees, and nobody else.
    assert set(read.recipients) <= {account.address}
    assert tuple(read.items) == plan.items
    assert set(read.deadlines) == {plan.deadline}
    assert {(each.token, each.ref) for each in read.changes} == {(each.token, each.ref) for each in plan.changes}
    assert tuple(read.hooks) == plan.hooks


@pytest.mark.parametrize("way", WAYS)
def test_a_v4_position_lives_from_mint_to_burn_exactly_as_planned(chain: World, way: str) -> None:
    account = rich_account(chain)
    symbols = [each for each in WAYS[way][1].values() if each in chain.tokens]

    def run(plan: TxPlan) -> PlanOutcome:
        check_read(chain, account, plan)
        outcome = run_plan(chain, account, plan)
        check_promises(outcome)
        assert not any(rights_left(chain, account, symbols))
        assert int(chain.rpc.call("eth_getBalance", contracts().positions, "latest"), 16) == 0
        return outcome

    minted = run(open_plan(chain, account, way))
    assert minted.plan.action_class is ActionClass.NEW_POSITION
    report = report_of("uniswap_lp_add_liquidity", minted)
    position_id = report["position_id"]
    assert position_id.startswith("v4:") and report["liquidity"] == minted.plan.details["liquidity"]
    (held,) = held_of(chain, account, position_id)
    opened = int(held.facts["liquidity"])
    assert opened == int(report["liquidity"]) and held.facts["version"] == "v4"

    trade_back_and_forth(chain, way)
    # The first token of the pool, by V4's own order: USDC or the coin.
    more = {"tokens": 300 * USD, "coin": ETH // 2}[way]
    params = {"position_id": position_id, "amount0": str(more)}
    grown = run(plan_of(chain, account, "uniswap_lp_increase_liquidity", **params))
    assert grown.plan.action_class is ActionClass.INCREASE_POSITION
    added = int(report_of("uniswap_lp_increase_liquidity", grown)["liquidity_added"])
    assert int(held_of(chain, account, position_id)[0].facts["liquidity"]) == opened + added

    trade_back_and_forth(chain, way)
    (held,) = held_of(chain, account, position_id)
    collected = run(plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id))
    fees = report_of("uniswap_lp_collect_fees", collected)
    assert (fees["fees_collected0"], fees["fees_collected1"]) == (held.facts["fees0"], held.facts["fees1"])
    assert int(fees["fees_collected0"]) > 0 and int(fees["fees_collected1"]) > 0

    half = run(plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id, percent_to_remove=50))
    assert half.plan.action_class is ActionClass.DECREASE_POSITION
    assert int(held_of(chain, account, position_id)[0].facts["liquidity"]) == -(-(opened + added) // 2)

    trade_back_and_forth(chain, way)
    (held,) = held_of(chain, account, position_id)
    assert PROTOCOL.exits is not None
    step = PROTOCOL.exits.next_step(held, {}, 0)
    assert isinstance(step, Act)
    rest = run(plan_of(chain, account, step.tool, **step.params))
    assert rest.plan.action_class is ActionClass.CLOSE_POSITION
    assert report_of("uniswap_lp_remove_liquidity", rest)["fees_collected0"] == held.facts["fees0"]
    assert held_of(chain, account, position_id) == ()
    with pytest.raises(PositionNotFound):
        plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id)


def test_the_given_amounts_are_never_exceeded_wherever_the_price_goes_within_the_slippage(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    plan = open_plan(chain, account, "coin", amount1=str(2_000 * USD), slippage_bps=100)
    assert [each.bound for each in plan.spends] <= [ETH, 2_000 * USD]
    # Somebody buys the coin meanwhile, which moves the price a little.
    run_plan(
        chain,
        stranger,
        plan_swap(chain, stranger, token_in="USDC", token_out="ETH", amount=str(10_000 * USD), route="v4:500"),
    )
    outcome = run_plan(chain, account, plan)
    spent = [-outcome.deltas[each.token.address] for each in plan.spends]
    assert all(paid <= each.bound for paid, each in zip(spent, plan.spends, strict=True))
    assert spent != [each.expected for each in plan.spends]
    assert not any(rights_left(chain, account, ["USDC"]))


def test_a_sandwich_beyond_the_slippage_lets_nobody_in_or_out(chain: World) -> None:
    account, stranger = rich_account(chain), chain.new_account(10 * ETH, {"USDC": 3_000_000 * USD})
    position_id = open_position(chain, account, "coin")
    plans = [
        open_plan(chain, account, "coin"),
        plan_of(chain, account, "uniswap_lp_increase_liquidity", position_id=position_id, amount0=str(ETH)),
        plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id),
        plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id, percent_to_remove=10),
    ]
    pushed = {"token_in": "USDC", "token_out": "ETH", "amount": str(800_000 * USD), "slippage_bps": 5_000}
    run_plan(chain, stranger, plan_swap(chain, stranger, route="v4:500", **pushed))
    for plan in plans:
        with pytest.raises(AssertionError):
            run_plan(chain, account, plan)
    assert len(held_of(chain, account, position_id)) == 1


def test_a_moved_pool_adds_nothing_to_what_a_v4_position_is_worth(chain: World) -> None:
    account, stranger = rich_account(chain), chain.new_account(10 * ETH, {"USDC": 3_000_000 * USD})
    position_id = open_position(chain, account, "coin")

    def worth() -> int:
        (held,) = held_of(chain, account, position_id)
        price = {NATIVE: 3_000 * USD, chain.tokens["USDC"].address: ETH}
        # Fees are the account's own, whatever the pool does.
        fees = [int(held.facts["fees0"]), int(held.facts["fees1"])]
        return sum((leg.raw - fee) * price[leg.token] for leg, fee in zip(held.legs, fees, strict=True))

    before = worth()
    pushed = {"token_in": "USDC", "token_out": "ETH", "amount": str(800_000 * USD), "slippage_bps": 5_000}
    run_plan(chain, stranger, plan_swap(chain, stranger, route="v4:500", **pushed))
    assert held_of(chain, account, position_id)[0].facts["in_range"] is False
    assert worth() == before


def test_a_stranger_who_sends_positions_hides_none_and_stops_no_read(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    mine = open_position(chain, account)
    gifts = [open_position(chain, stranger, "coin", amount0=str(ETH // 100)) for _ in range(3)]
    for each in gifts:
        number = int(each.removeprefix("v4:"))
        move = "transferFrom(address,address,uint256)"
        chain.transact(stranger, contracts().positions, move, stranger.address, account.address, number)
    # Named by a hint or not, what is the account's own is told, and so is what came; what is not is nobody's business.
    named = {each.ref.id for each in held_of(chain, account, mine)}
    assert named == {mine, *gifts} == {each.ref.id for each in held_of(chain, account)}
    assert {each.ref.id for each in held_of(chain, account, "v4:1", "v4:99999999", "v4:x")} == {mine, *gifts}
    assert held_of(chain, stranger, mine, *gifts) == ()


def test_the_newest_that_are_looked_at_begin_where_they_did_after_one_more_is_opened() -> None:
    assert [list_newest(number).start for number in (1, 33, 63, 64, 65, 95)] == [1, 1, 1, 32, 32, 32]
    assert all(NEWEST <= len(list_newest(number)) < 2 * NEWEST for number in range(2 * NEWEST, 5 * NEWEST))


def test_a_position_of_somebody_else_is_neither_changed_nor_read_as_the_golems(chain: World) -> None:
    account, owner = rich_account(chain), rich_account(chain)
    theirs = open_position(chain, owner)
    for tool in ("uniswap_lp_remove_liquidity", "uniswap_lp_collect_fees"):
        with pytest.raises(PositionNotFound):
            plan_of(chain, account, tool, position_id=theirs)
    plan = plan_of(chain, owner, "uniswap_lp_remove_liquidity", position_id=theirs)
    with pytest.raises(UnknownCall, match="belongs to"):
        read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())


def modified(account: Any, actions: list[tuple[int, bytes]], value: int = 0) -> Call:
    return liquidity_plans.modify(contracts().positions, actions, 2**40, label="told otherwise", value=value)


def test_what_would_pay_somebody_else_or_stay_with_the_manager_is_not_known(chain: World) -> None:
    account = rich_account(chain)
    position_id = open_position(chain, account, "coin")
    number, pool = int(position_id.removeprefix("v4:")), key(chain, 2)
    reader = make_context(chain).chain()

    def change(liquidity: int, bound: int, data: bytes = b"") -> bytes:
        types = ["uint256", "uint256", "uint128", "uint128", "bytes"]
        return encode(types, [number, liquidity, bound, bound, data])

    def sweep(currency: str) -> tuple[int, bytes]:
        return 0x14, encode(["address", "address"], [currency, account.address])

    out = change(5, 1)
    whole = [pool.currency0, pool.currency1]
    more = change(5, 100)
    closes = [(0x12, encode(["address"], [each])) for each in whole]

    def take(recipient: str) -> tuple[int, bytes]:
        return 0x11, encode(["address", "address", "address"], [*whole, recipient])

    unknown = [
        modified(account, [(0x01, out), take("0x" + "00" * 19 + "02")]),
        modified(account, [(0x01, out), take(contracts().positions)]),
        modified(account, [(0x01, out)]),
        modified(account, [(0x01, out), (0x0F, encode(["address", "uint256"], [pool.currency1, 0]))]),
        modified(account, [(0x01, out), take(account.address), take(account.address)]),
        modified(account, [(0x01, out), take(account.address)], value=1),
        modified(
            account,
            [
                (0x01, change(5, 0)),
                take(account.address),
            ],
        ),
        modified(
            account,
            [
                (0x01, change(5, 1, b"x")),
                take(account.address),
            ],
        ),
        modified(account, [(0x00, more), *closes], value=100),
        modified(
            account,
            [(0x00, more), *closes, sweep(pool.currency1)],
            value=100,
        ),
        modified(account, [(0x00, more), *reversed(closes)], value=100),
        modified(account, [(0x0B, encode(["address", "uint256", "bool"], [pool.currency1, 5, True]))]),
        replace(modified(account, [(0x01, out), take(account.address)]), data=b"\xac\x96\x50\xd8" + bytes(64)),
    ]
    for call in unknown:
        with pytest.raises(UnknownCall):
            read_calls([call], account=account.address, chain=reader)
    elsewhere = modified(account, [(0x01, out), take("0x" + "77" * 20)])
    assert account.address not in read_calls([elsewhere], account=account.address, chain=reader).recipients
    # What a halt lets go out is what only takes out, to the account.
    (leaving,) = [each for each in PROTOCOL.leaving if each.key == "v4_position_manager"]
    (only,) = leaving.only
    there = There(account.address, lambda name: None)

    def leaves(call: Call) -> bool:
        return only.holds(decode_input(liquidity_plans.MODIFY, call.data), there)

    assert leaves(modified(account, [(0x01, out), take(account.address)]))
    assert not leaves(elsewhere)
    assert not leaves(modified(account, [(0x00, more), *closes]))
    assert not any(leaves(each) for each in unknown[:4])


def test_a_hook_that_could_tax_the_way_out_is_told_before_anybody_enters(chain: World) -> None:
    account = rich_account(chain)
    pool = open_hooked_pool(chain, EXIT_TAXER)
    plan = open_plan(chain, account, pool=pool.pool_id, slippage_bps=300)
    assert [each.address for each in plan.hooks] == [EXIT_TAXER.address]
    assert (plan.details["hook"], plan.details["exit_at_risk"]) == (EXIT_TAXER.address, True)
    assert "stop or tax a withdrawal" in plan.details["hook_could"]
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())
    assert tuple(read.hooks) == plan.hooks
    run_plan(chain, account, plan)
    (held,) = held_of(chain, account)
    assert (held.facts["hook"], held.facts["hook_is_risky"]) == (EXIT_TAXER.address, True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"token0": "WETH", "token1": "USDC"}, "is of USDC and DAI"),
        ({"amount0": None}, "amount0, amount1 or both"),
    ],
)
def test_what_does_not_fit_the_pool_is_refused_with_what_does(chain: World, changes: dict[str, Any], said: str) -> None:
    account = rich_account(chain)
    with pytest.raises(InvalidParams, match=said):
        open_plan(chain, account, **changes)


def test_a_v3_pool_may_be_named_too_and_another_pair_or_fee_is_refused(chain: World) -> None:
    account = rich_account(chain)
    reader = make_context(chain, address=account.address).chain()
    pair = sort_tokens(chain.tokens["WETH"].address, chain.tokens["USDC"].address)
    pool = find_v3_pool(reader, deployment_on(CHAIN_ID), *pair, 500)
    wanted: dict[str, Any] = {
        "token0": "WETH",
        "token1": "USDC",
        "price_lower": "2700",
        "price_upper": "3300",
        "pool": pool.id,
    }
    plan = open_plan(chain, account, **wanted, amount0=str(ETH))
    assert (plan.details["venue"], plan.details["pool"]) == ("uniswap v3", pool.id)
    for wrong in ({"fee": 3_000}, {"token1": "DAI"}):
        with pytest.raises(GolemError):
            open_plan(chain, account, **{**wanted, **wrong}, amount0=str(ETH))


def test_a_v4_position_is_described_by_its_id(chain: World) -> None:
    account = rich_account(chain)
    position_id = open_position(chain, account, "coin")
    told = answer_of(make_context(chain, address=account.address), "data_get_position", token_id=position_id)
    assert (told["token_id"], told["version"], told["in_range"]) == (position_id, "v4", True)
    assert (told["token0"]["symbol"], told["token1"]["symbol"]) == ("ETH", "USDC")
    assert told["value_usd"] is not None
