"""A large swap goes two ways at once where that brings more after gas; a small one costs no question more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from permits_app.safety.decoding import read_calls
from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap
from tests.tools_app.protocols.uniswap.test_v4_swaps import rest_of
from tools_app.protocols.uniswap import splitting
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.paths import Path
from tools_app.protocols.uniswap.routing import find_routes
from tools_app.protocols.uniswap.splitting import Split
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.standards.permit2 import PERMIT2

USD = 10**6
# Sold, bought, how much, and which routers the two parts go through.
LARGE = [
    pytest.param("WETH", "USDC", 1_000 * ETH, {"v3"}, id="two-fees-of-v3"),
    pytest.param("DAI", "WBTC", 100_000 * ETH, {"v3"}, id="over-two-hubs"),
    pytest.param("ETH", "USDC", 1_000 * ETH, {"v3"}, id="coin-in"),
    pytest.param("USDC", "WETH", 10_000_000 * USD, {"v2", "v3"}, id="two-routers"),
]


def wealthy_account(chain: World) -> Any:
    return chain.new_account(
        2_000 * ETH,
        {"USDC": 20_000_000 * USD, "WETH": 2_000 * ETH, "DAI": 2_000_000 * ETH, "WBTC": 100 * 10**8},
    )


def best_alone(chain: World, sold: str, bought: str, amount: int) -> int:
    """What the best single way gives."""
    reader = make_context(chain).chain()
    first, last = reader.token(sold), reader.token(bought)
    routes = find_routes(
        reader, deployment_on(31337), token_in=first, token_out=last, amount=amount, may_call=lambda _: True
    )
    return routes.best.amount_out


@pytest.mark.parametrize(("sold", "bought", "amount", "versions"), LARGE)
def test_a_large_swap_goes_two_ways_and_brings_what_its_quote_told_to_the_base_unit(
    chain: World, sold: str, bought: str, amount: int, versions: set[str]
) -> None:
    account = wealthy_account(chain)
    params = {"token_in": sold, "token_out": bought, "amount": str(amount)}
    quote = answer_of(make_context(chain, address=account.address), "uniswap_get_quote", **params)
    plan = plan_swap(chain, account, slippage_bps=100, **params)

    spent, received = plan.spends[0], plan.receives[0]
    assert received.expected > best_alone(chain, sold, bought, amount)
    assert int(quote["amount_out"]) == received.expected
    parts = plan.details["parts"]
    assert quote["parts"] == parts and len(parts) == 2
    assert sum(int(part["amount_in"]) for part in parts) == amount == spent.bound
    assert received.bound == sum(int(part["amount_out"]) * 99 // 100 for part in parts)
    assert {hop["version"] for hop in quote["route"]} == versions
    assert len({hop["pool"] for hop in quote["route"]}) == len(quote["route"])
    assert quote["route_name"] == plan.details["route_name"] and " + " in quote["route_name"]
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())
    assert {**read.spends} == {spent.token.address: spent.bound}
    assert {**read.receives} == {received.token.address: received.bound}
    assert set(read.recipients) == {account.address} and set(read.deadlines) == {plan.deadline}

    outcome = run_plan(chain, account, plan)

    assert -outcome.deltas[spent.token.address] == spent.expected
    assert outcome.deltas[received.token.address] == received.expected
    for call in plan.calls if not spent.token.is_native else ():
        token = spent.token.address
        (left,) = chain.rpc.read(token, "allowance(address,address)", account.address, call.to, returns="(uint256)")
        assert left == 0


@pytest.mark.protocols("uniswap_v4")
def test_a_part_goes_through_v4_beside_one_through_v3(chain: World) -> None:
    account = wealthy_account(chain)
    params = {"token_in": "USDC", "token_out": "WETH", "amount": str(10_000_000 * USD)}
    plan = plan_swap(chain, account, **params)
    assert plan.details["venue"] == "uniswap v3+v4"
    assert plan.receives[0].expected > best_alone(chain, "USDC", "WETH", 10_000_000 * USD)
    outcome = run_plan(chain, account, plan)
    assert outcome.deltas[chain.tokens["WETH"].address] == plan.receives[0].expected
    assert not any(rest_of(chain, ("USDC", "WETH")).values())
    left = chain.rpc.read(
        PERMIT2,
        "allowance(address,address,address)",
        *(account.address, chain.tokens["USDC"].address, v4_router()),
        returns="(uint160,uint48,uint48)",
    )
    assert left[0] == 0


def v4_router() -> str:
    found = v4_on(31337)
    assert found is not None
    return found.router


def look_for_split(chain: World, sold: str, bought: str, amount: int) -> tuple[int, Split | None]:
    """The impact of the best way alone, in basis points, and what the swap is split into."""
    reader, place = make_context(chain).chain(), deployment_on(31337)
    first, last = reader.token(sold), reader.token(bought)
    routes = find_routes(reader, place, token_in=first, token_out=last, amount=amount)
    return routes.best.price_impact_bps, splitting.find_split(reader, place, routes, token_out=last)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[tuple[Path, int]]]:
    """What the quoters are asked about splits."""
    questions: list[Sequence[tuple[Path, int]]] = []
    quote_amounts = splitting.quote_amounts

    def note(reader: Any, place: Any, question: Sequence[tuple[Path, int]]) -> Any:
        questions.append(question)
        return quote_amounts(reader, place, question)

    monkeypatch.setattr(splitting, "quote_amounts", note)
    return questions


def test_an_impact_of_three_tenths_of_a_percent_is_looked_at_and_no_smaller_one(
    chain: World, asked: list[Sequence[tuple[Path, int]]]
) -> None:
    questions = {}
    for whole in range(198, 212):
        before = len(asked)
        impact, _ = look_for_split(chain, "WETH", "USDC", whole * ETH)
        questions[impact] = len(asked) - before
    assert questions[29] == 0 and questions[30] == 1


def test_five_basis_points_more_are_a_gain_and_less_is_none(chain: World) -> None:
    found = {}
    for thousands in (25, 26):
        amount = thousands * 1_000 * ETH
        alone = best_alone(chain, "DAI", "WBTC", amount)
        _, found[thousands] = look_for_split(chain, "DAI", "WBTC", amount)
    # By what the quoters say, the first of them would bring 4.8 basis points more, and the second 5.5.
    assert found[25] is None and found[26] is not None
    assert 5 <= (found[26].amount_out - alone) * 10_000 / alone < 6


def test_four_ways_are_asked_about_and_no_more(chain: World, asked: list[Sequence[tuple[Path, int]]]) -> None:
    look_for_split(chain, "WETH", "USDC", 1_000 * ETH)
    ((*question,),) = asked
    assert len({path for path, _ in question}) == 4


def test_a_small_amount_a_named_way_and_an_exact_output_go_one_way_and_ask_nothing_more(
    chain: World, asked: list[Sequence[tuple[Path, int]]]
) -> None:
    account = wealthy_account(chain)
    large = {"token_in": "WETH", "token_out": "USDC", "amount": str(1_000 * ETH), "slippage_bps": 500}
    for params in (
        {**large, "amount": str(ETH)},
        {**large, "route": "v3:500"},
        {**large, "exact_output": True, "amount": str(2_000_000 * USD)},
    ):
        assert "parts" not in plan_swap(chain, account, **params).details
    assert asked == []
    plan_swap(chain, account, **large)
    assert len(asked) == 1


def test_what_a_second_part_gains_has_to_be_worth_its_gas(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    account = wealthy_account(chain)
    params = {"token_in": "DAI", "token_out": "WBTC", "amount": str(60_000 * ETH)}
    assert "parts" in plan_swap(chain, account, **params).details
    # It brings 28 basis points more: a hundred and seventy dollars. A chain whose fees move would move for all tests.
    monkeypatch.setattr(splitting, "_GAS_OF_AN_APPROVAL", 10**9)
    assert "parts" not in plan_swap(chain, account, **params).details
