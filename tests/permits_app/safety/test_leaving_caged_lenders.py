"""From behind its cage a golem gets out of lender, debt, vault and pair, or its owners do, wherever it was led."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from permits_app.actions.halt import UNWOUND_STEP
from permits_app.execution.payloads import send_payload
from permits_app.execution.position_unwinding import OWNER_NEEDED
from permits_app.models import OutboundTransaction
from permits_app.policy_cage.contract import Limit
from tests.evm.world import World
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import make_live_golem
from tests.permits_app.safety.caged_lending_walk import CAGED_LENDING_ACTS, CagedLendingWalk, CagedMorphoWalk
from tests.permits_app.safety.machines import run_machine
from tests.tools_app.protocols.aave_v3.desk import open_desk
from tools_app.toolkit.enums import Phase

pytestmark = [
    pytest.mark.usefixtures("tasks_here", "transactional_db"),
    pytest.mark.protocols("aave_v3", "erc4626"),
]
_STEPS = 5


def _begin(world: World, *acts: tuple[str, tuple[Any, ...]], name: str = "Lender") -> CagedLendingWalk:
    walk = CagedLendingWalk(make_live_golem(world, name=name))
    walk.begin()
    for name, values in acts:
        walk.steps.append(name)
        getattr(walk, name)(*values)
    return walk


def _get_out(walk: CagedLendingWalk, *, by_owner: bool) -> None:
    if by_owner:
        walk.check_owner_gets_out()
    else:
        walk.check_agent_gets_out()


@pytest.mark.parametrize("by_owner", [False, True])
def test_from_behind_a_cage_key_and_halt_leave_lender_debt_vault_and_pair(by_owner: bool, local_chain: World) -> None:
    _get_out(_begin(local_chain), by_owner=by_owner)


@pytest.mark.parametrize(
    ("phase", "by_owner"), [(Phase.DEFENSIVE, True), (Phase.TERMINAL, False), (Phase.TERMINAL, True)]
)
def test_in_a_worse_phase_of_golem_and_contract_they_are_left_too(
    phase: Phase, by_owner: bool, local_chain: World
) -> None:
    acts: list[tuple[str, tuple[Any, ...]]] = [("change_phase", (phase,))]
    acts += [("worsen_in_contract", (list(Phase).index(phase),))]
    acts += [("raise_the_mark", (60_000,)), ("record_drawdown", ()), ("take_off_list", (None,))]
    _get_out(_begin(local_chain, *acts), by_owner=by_owner)


def test_a_debt_in_what_retires_is_paid_and_its_cover_comes_out(local_chain: World) -> None:
    walk = _begin(local_chain, ("retire", ("DAI",)))
    _get_out(walk, by_owner=True)


def test_a_debt_in_what_nothing_may_leave_of_is_paid_by_the_owners(local_chain: World) -> None:
    walk = _begin(local_chain, ("close_outflow", ("DAI",)))
    with pytest.raises(AssertionError, match="OutflowTooLarge"):
        walk.check_step("repay")
    walk.take("halt_contract", ())
    _get_out(walk, by_owner=True)


@pytest.mark.parametrize("by_owner", [False, True])
def test_what_retires_is_sold_as_it_comes_out_of_a_lender(by_owner: bool, local_chain: World) -> None:
    walk = _begin(local_chain, ("retire", ("WETH",)))
    walk.leave_the_pair_as_owners()
    held = walk.live.balance("WETH")
    if by_owner:
        walk.check_owner_gets_out()
    else:
        walk.take_step("repay")
        walk.take_step("withdraw")
        assert walk.live.balance("WETH") <= held
        walk.check_agent_gets_out()


@pytest.mark.protocols("morpho")
@pytest.mark.parametrize("by_owner", [False, True])
def test_what_retires_is_sold_as_it_comes_out_of_a_market_of_morpho(by_owner: bool, local_chain: World) -> None:
    walk = CagedMorphoWalk(make_live_golem(local_chain))
    walk.begin()
    walk.retire("WETH")
    held = walk.live.balance("WETH")
    if by_owner:
        assert walk.halt_until_done().completed_at is not None
    else:
        walk.take_out()
    walk.check_nothing_is_left()
    assert walk.live.balance("WETH") == held


def test_a_rest_of_what_retires_that_no_market_buys_keeps_no_halt_open(local_chain: World) -> None:
    walk = _begin(local_chain)
    walk.leave_the_lender_but(100)
    walk.retire("WETH")
    walk.leave_the_pair_as_owners()
    halt = walk.halt_until_done()
    assert halt.completed_at is not None, halt.steps
    [unwound] = [step["positions"] for step in halt.steps if step["step"] == UNWOUND_STEP]
    assert {each["venue"]: each["outcome"] for each in unwound}["aave_v3"] == OWNER_NEEDED


def test_what_retires_and_may_not_leave_the_owners_take_out_of_a_lender(local_chain: World) -> None:
    walk = _begin(local_chain, ("retire", ("WETH",)), ("close_outflow", ("WETH",)))
    walk.take_step("repay")
    with pytest.raises(AssertionError, match="OutflowTooLarge"):
        walk.check_step("withdraw")
    _get_out(walk, by_owner=True)


def test_shares_of_a_pair_that_retires_are_taken_out_by_the_owners(local_chain: World) -> None:
    walk = _begin(local_chain, ("retire", ("WETH",)))
    with pytest.raises(AssertionError, match="AssetNotApproved"):
        walk.check_step("pair")
    _get_out(walk, by_owner=True)


@pytest.mark.one_of_many
@pytest.mark.parametrize("by_owner", [False, True])
@pytest.mark.parametrize("seconds", [1, 30, 90, 250])
def test_whatever_it_earns_between_the_steps_what_retires_is_left_but_for_a_rest_that_its_owners_take(
    seconds: int, by_owner: bool, local_chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = _begin(local_chain, ("retire", ("WETH",)))
    whale = open_desk(local_chain, USDC=10**13)
    whale.do("aave_supply", asset="USDC", amount=str(10**13))
    whale.do("aave_borrow", asset="WETH", amount=str(1_500 * 10**18))
    sent: list[str] = []
    original = send_payload

    def wait_first(row: OutboundTransaction, **asked: Any) -> bool:
        """The chain's clock moves between plan and block."""
        local_chain.rpc.call("evm_increaseTime", seconds)
        sent.append(row.tx_hash)
        return original(row, **asked)

    monkeypatch.setattr("permits_app.execution.executor.send_payload", wait_first)
    _get_out(walk, by_owner=by_owner)
    assert len(sent) > 2


def test_shares_that_the_owners_let_no_router_take_they_take_out(local_chain: World) -> None:
    walk = _begin(local_chain)
    walk.keep_shares_from_router()
    with pytest.raises(AssertionError, match="SelectorForbidden"):
        walk.check_step("pair")
    _get_out(walk, by_owner=False)


def test_a_halt_leaves_the_rest_and_ends_once_the_owners_took_out_what_the_contract_keeps(local_chain: World) -> None:
    walk = _begin(local_chain)
    walk.keep_shares_from_router()
    halt = walk.halt_until_done()
    assert halt.completed_at is None and not (walk.has_debt() or walk.has_collateral() or walk.has_shares())
    walk.leave_the_pair_as_owners()
    assert walk.halt_until_done().completed_at is not None


def test_shares_of_a_vault_whose_asset_retires_are_given_back_by_the_owners(local_chain: World) -> None:
    walk = _begin(local_chain, ("retire", ("USDC",)))
    with pytest.raises(AssertionError, match="AssetNotApproved"):
        walk.check_step("redeem")
    held = walk.live.balance("USDC")
    walk.redeem_as_owners()
    assert not walk.has_shares() and walk.live.balance("USDC") > held


def test_a_debt_whose_asset_is_gone_is_paid_out_of_its_cover_while_the_contract_takes_exchanges(
    local_chain: World,
) -> None:
    walk = _begin(local_chain)
    walk.sell_what_is_owed()
    _get_out(walk, by_owner=True)


def test_a_debt_whose_asset_is_gone_is_paid_by_the_owners_where_the_contract_only_leaves(local_chain: World) -> None:
    walk = _begin(local_chain)
    walk.sell_what_is_owed()
    walk.worsen_in_contract(4)
    assert walk.halt_until_done().completed_at is None and walk.has_debt()
    walk.buy_what_is_owed_as_owners()
    assert walk.halt_until_done().completed_at is not None
    assert not walk.has_debt() and not walk.has_collateral()


def test_what_is_above_a_lowered_cap_of_positions_is_left_before_anything_is_sold(local_chain: World) -> None:
    walk = _begin(local_chain, ("tighten_contract", (Limit.MAX_POSITION_BPS, 1)))
    with pytest.raises(AssertionError, match="PositionTooLarge"):
        walk.check_is_sold("WETH")
    _get_out(walk, by_owner=False)


def test_shares_of_a_pair_whose_asset_is_above_its_cap_are_taken_out_by_the_owners(local_chain: World) -> None:
    walk = _begin(local_chain, ("tighten_contract", (Limit.MAX_CONCENTRATION_BPS, 500)))
    with pytest.raises(AssertionError, match="ConcentrationTooLarge"):
        walk.check_step("pair")
    _get_out(walk, by_owner=False)


def test_a_paused_lender_keeps_no_debt_from_being_paid_through_a_cage(local_chain: World) -> None:
    walk = _begin(local_chain, ("pause", (True,)))
    walk.take_step("repay")
    assert (walk.has_debt(), walk.has_collateral()) == (False, True)
    _get_out(walk, by_owner=True)


@pytest.mark.one_of_many
@pytest.mark.parametrize("number", range(2))
def test_on_a_walk_a_lender_behind_its_cage_gets_out(number: int, local_chain: World) -> None:
    chance = random.Random(number)
    walk = _begin(local_chain)
    for name in chance.sample(list(CAGED_LENDING_ACTS), _STEPS):
        walk.take(name, chance.choice(CAGED_LENDING_ACTS[name]))
    _get_out(walk, by_owner=number % 2 == 0)


class LeavingCagedLenders(RuleBasedStateMachine):
    """Walks of a golem each, from its loan behind its cage."""

    world: ClassVar[World]
    walks: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).walks += 1
        self.walk = CagedLendingWalk(make_live_golem(self.world, name=f"Caged lender {self.walks}"))

    @initialize()
    def begin(self) -> None:
        """It lends, owes, and holds shares of both kinds."""
        self.walk.begin()

    @rule(act=st.sampled_from([(name, values) for name, each in CAGED_LENDING_ACTS.items() for values in each]))
    def take(self, act: tuple[str, tuple[Any, ...]]) -> None:
        """Any act, with any of its values."""
        self.walk.take(*act)

    def teardown(self) -> None:
        """Out of where it led."""
        _get_out(self.walk, by_owner=bool(self.walks % 2))


@pytest.mark.hypothesis
def test_a_machine_of_states_finds_no_caged_loan_without_a_way_out(local_chain: World) -> None:
    """`make proof ONLY=leaving` walks at random, oftener and further."""
    run_machine(LeavingCagedLenders, local_chain, short=(1, 3), long=(20, 15))
