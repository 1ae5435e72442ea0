"""Whatever a golem does at lenders, vaults, pools, staking and queues, in any order, leaves what it is worth.

The short form of the proof; and ways to count wrongly, each of which is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.evm.world import World
from tests.proof.holding_steps import SAID, STEPS, WALKS, name_ways
from tests.proof.holding_walk import HoldingsWalk, undone
from tests.proof.holdings import ACTS, PAUSES, SHARES, WORLDS, walk_at_random
from tools_app.portfolio.holdings import HeldPosition, Holdings, measure_holdings
from tools_app.toolkit.case import PutIn, TakeOut
from tools_app.toolkit.positions import REQUEST_KIND

pytestmark = [pytest.mark.protocols(*WORLDS), pytest.mark.django_db]
QUICK = settings(
    max_examples=6,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    # An example takes a second; what breaks is named by its act.
    phases=(Phase.generate,),
)
Count = Callable[[Sequence[HeldPosition]], Sequence[HeldPosition]]

EVERY_ACT = (
    "aave_supply WETH",
    "aave_supply USDC",
    "aave_supply DAI",
    "aave_borrow USDC",
    "aave_borrow DAI",
    "aave_repay",
    "aave_withdraw",
    "spark_supply WETH",
    "spark_supply USDC",
    "spark_supply DAI",
    "spark_borrow USDC",
    "spark_borrow DAI",
    "spark_repay",
    "spark_withdraw",
    "morpho_supply_market WETH",
    "morpho_supply_market USDC",
    "morpho_supply_market DAI",
    "morpho_borrow_market",
    "morpho_repay_market",
    "morpho_withdraw_market lent",
    "morpho_withdraw_market collateral",
    "maker_open_vault",
    "maker_deposit_collateral",
    "maker_generate_dai",
    "maker_close_vault",
    "lido_stake stETH",
    "lido_stake wstETH",
    "lido_wrap",
    "lido_unwrap",
    "lido_unstake stETH",
    "lido_unstake wstETH",
    "lido_claim_withdrawal",
    "rocketpool_stake",
    "rocketpool_unstake",
    *SAID,
)
"""An order in which each finds something to act on."""


class HoldingsMachine(RuleBasedStateMachine):
    """One account that acts at every protocol, in a chain that forgets each example."""

    chain: ClassVar[World]
    wrong: ClassVar[str] = ""
    acts_taken: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self._stack.enter_context(undone(self.chain.rpc))
        self.walk = make_walk(self.chain, WRONG_COUNTS.get(self.wrong))

    @rule(name=st.sampled_from(sorted(STEPS)), share=st.sampled_from(SHARES), choice=st.integers(0, 7))
    def act(self, name: str, share: int, choice: int) -> None:
        found = STEPS[name](self.walk, share, choice)
        if found is not None and self.walk.act(found):
            type(self).acts_taken += 1

    @rule(seconds=st.sampled_from(PAUSES))
    def pass_time(self, seconds: int) -> None:
        self.walk.pass_time(seconds)

    @rule()
    def finalize(self) -> None:
        self.walk.finalize()

    def teardown(self) -> None:
        self._stack.close()


def make_walk(chain: World, count: Count | None = None) -> HoldingsWalk:
    """`count` changes what positions are taken for."""

    def measure(**asked: Any) -> Holdings:
        told = measure_holdings(**asked)
        return told if count is None else replace(told, positions=tuple(count(told.positions)))

    walk = HoldingsWalk.begin(chain.rpc, "holdings", chain.protocols)
    walk.measure = measure
    return walk


def act_everywhere(walk: HoldingsWalk) -> None:
    for name in EVERY_ACT:
        if name == "lido_claim_withdrawal":
            walk.finalize()
        found = STEPS[name](walk, 60, 0)
        assert found is not None and walk.act(found), f"{name} found nothing to act on"


@pytest.fixture
def place(local_chain: World) -> Iterator[World]:
    HoldingsMachine.chain = local_chain
    yield local_chain
    del HoldingsMachine.chain


def test_no_order_of_acts_over_all_protocols_moves_the_net_asset_value(place: World) -> None:
    HoldingsMachine.acts_taken = 0
    run_state_machine_as_test(HoldingsMachine, settings=QUICK)
    assert HoldingsMachine.acts_taken > QUICK.max_examples, "the examples found nothing to act on"


def test_each_way_in_and_out_is_taken_with_positions_at_all_of_them(place: World) -> None:
    assert sorted(EVERY_ACT) == sorted(STEPS)
    walk = make_walk(place)
    act_everywhere(walk)
    assert set(walk.done) == {name.split()[0] for name in STEPS}
    _, holdings = walk.read()
    held = {each.ref.protocol for each in holdings.positions}
    assert held == {"aave_v3", "spark", "morpho", "lido", "rocketpool", *WALKS} and holdings.debt_micro_usd > 0


def test_a_walk_of_the_long_proof_is_walked_the_same_way(place: World) -> None:
    before = place.rpc.call("eth_blockNumber")
    assert walk_at_random(place.rpc, place.protocols, 1) == ACTS
    assert place.rpc.call("eth_blockNumber") == before, "the walk is undone"


def with_legs(held: HeldPosition, change: Callable[[int], int]) -> HeldPosition:
    return replace(held, parts=tuple(replace(part, raw=change(part.raw)) for part in held.parts))


WRONG_COUNTS: dict[str, Count] = {
    "a debt is a gain": lambda positions: [with_legs(each, abs) for each in positions],
    "a debt is not seen": lambda positions: [with_legs(each, lambda raw: max(raw, 0)) for each in positions],
    "what waits in a queue is forgotten": lambda positions: [
        each for each in positions if each.ref.kind != REQUEST_KIND
    ],
    "a receipt counts beside its position": lambda positions: [
        *positions,
        *(each for each in positions if each.position.claim_tokens),
    ],
    "a hundredth of a position is lost": lambda positions: [
        with_legs(each, lambda raw: raw - raw // 100) for each in positions
    ],
}
for _name in WORLDS:
    WRONG_COUNTS[f"nobody looks at {_name}"] = lambda positions, name=_name: [  # type: ignore[misc]
        each for each in positions if each.ref.protocol != name
    ]


@pytest.mark.parametrize("wrong", WRONG_COUNTS)
def test_whoever_counts_wrongly_is_noticed(place: World, wrong: str) -> None:
    walk = make_walk(place, WRONG_COUNTS[wrong])
    with pytest.raises(AssertionError, match="moved the net asset value"):
        act_everywhere(walk)


def test_the_state_machine_itself_notices_a_debt_taken_for_a_gain(
    place: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HoldingsMachine, "wrong", "a debt is a gain")
    with pytest.raises(AssertionError, match="borrow.* moved the net asset value|generate_dai moved"):
        run_state_machine_as_test(HoldingsMachine, settings=QUICK)


def test_two_ways_of_one_tool_are_both_walked() -> None:
    ways = (PutIn("lend", "USDC"), PutIn("lend", "WETH"), TakeOut("leave", "share", "amount"))
    assert name_ways(ways) == {"lend": ways[0], "lend WETH": ways[1], "leave": ways[2]}
    with pytest.raises(ValueError, match="lend WETH"):
        name_ways((*ways, ways[1]))
