"""Positions are measured before and after in the simulation, on both engines; what the plan does not say is refused."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.hook_rejection import Reject
from permits_app.safety.position_rules import judge_changes, judge_health
from permits_app.safety.positions_to_simulate import ask_for_positions, run_asking
from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.on_the_shelf import Bank
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.portfolio.health import measure_health
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.simulation.differential import find_differences
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import select_engine
from tools_app.standards import erc20
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import HealthTooLow, PositionChange, PositionRef
from tools_app.toolkit.views import NATIVE

DAI = 10**18
FLOOR = 15_000


@pytest.fixture
def saver(bank: Bank) -> str:
    """Somebody with 1,000 DAI in the bank and 4,000 in hand."""
    world = bank.world
    account = world.new_account(10**18, {"DAI": 5_000 * DAI})
    dai = world.tokens["DAI"].address
    world.transact(account, dai, "approve(address,uint256)", bank.address, 10**24)
    world.transact(account, bank.address, "deposit(uint256)", 1_000 * DAI)
    return str(account.address)


def open_chain() -> ChainReader:
    return runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))


def run(bank: Bank, account: str, plan: TxPlan, *, engine: str = "rpc") -> SimulationResult:
    chain = open_chain()
    request = SimulationRequest(
        chain_id=CHAIN_ID,
        sender=account,
        calls=plan.calls,
        block=chain.block,
        watch=tuple((account, token) for token in (NATIVE, *(token.address for token in plan.tokens))),
        positions=ask_for_positions(plan=plan, chain=chain, account=account),
    )

    def run_once(wanted: SimulationRequest) -> SimulationResult:
        return select_engine(CHAIN_ID, engine).run(wanted, deadline=Deadline.after_ms(10_000))

    return run_asking(run_once, chain=chain, account=account)(request)


def say(bank: Bank, account: str, *changes: tuple[str, int]) -> tuple[PositionChange, ...]:
    where = bank.protocol.deployments(CHAIN_ID) or {}
    ref = PositionRef("made_up_bank", "account", CHAIN_ID, account)
    return tuple(PositionChange("made_up_bank", "account", where[key], raw, raw, ref) for key, raw in changes)


def deposit(bank: Bank, account: str, raw: int = 100 * DAI, **said: Any) -> TxPlan:
    dai = open_chain().token("DAI")
    return TxPlan(
        CHAIN_ID,
        (
            erc20.approve_exact(token=dai, spender=bank.address, amount=raw),
            Call(bank.address, encode_call("function deposit(uint256)", raw), 0, "deposit"),
        ),
        changes=said.get("changes", say(bank, account, ("cash", raw))),
    )


def call(bank: Bank, name: str, raw: int, changes: tuple[PositionChange, ...] = ()) -> TxPlan:
    data = encode_call(f"function {name}(uint256)", raw)
    return TxPlan(CHAIN_ID, (Call(bank.address, data, 0, name),), changes=changes)


def judge(bank: Bank, account: str, plan: TxPlan) -> Reject | None:
    chain = open_chain()
    simulation = run(bank, account, plan)
    assert simulation.succeeded, simulation.failure
    return judge_changes(plan=plan, simulation=simulation, chain=chain)


@pytest.mark.usefixtures("db")
def test_both_engines_tell_the_same_positions_before_and_after(bank: Bank, saver: str) -> None:
    plan = deposit(bank, saver)
    one, two = (run(bank, saver, plan, engine=name) for name in ("rpc", "pyevm"))
    assert find_differences(one, two) == ()
    for told in (one, two):
        [before], [after] = told.positions_before or (), told.positions_after or ()
        assert (before.legs[0].raw, after.legs[0].raw) == (1_000 * DAI, 1_100 * DAI)


@pytest.mark.usefixtures("db")
def test_a_deposit_that_does_what_it_says_passes(bank: Bank, saver: str) -> None:
    assert judge(bank, saver, deposit(bank, saver)) is None


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(("mood", "rule"), [(1, "position_unannounced"), (5, "position_bound")])
def test_a_deposit_that_does_more_or_less_than_it_says_is_refused(bank: Bank, saver: str, mood: int, rule: str) -> None:
    bank.set_mood(mood)
    refusal = judge(bank, saver, deposit(bank, saver))
    assert refusal is not None and refusal.rule == f"simulator.{rule}"


@pytest.mark.usefixtures("db")
def test_what_a_plan_leaves_unsaid_is_refused_in_every_direction(bank: Bank, saver: str) -> None:
    ref = say(bank, saver, ("cash", 0))
    for plan in (
        call(bank, "borrow", DAI // 100),
        call(bank, "borrow", DAI // 100, ref),
        call(bank, "request", 100 * DAI),
        call(bank, "request", 100 * DAI, say(bank, saver, ("cash", -100 * DAI))),
    ):
        refusal = judge(bank, saver, plan)
        assert refusal is not None and refusal.rule == "simulator.position_unannounced", plan


@pytest.mark.usefixtures("db")
def test_a_second_borrow_behind_the_first_is_seen(bank: Bank, saver: str) -> None:
    once = encode_call("function borrow(uint256)", DAI // 100)
    calls = tuple(Call(bank.address, once, 0, "borrow") for _ in range(2))
    plan = TxPlan(CHAIN_ID, calls, changes=say(bank, saver, ("loan", -DAI // 100)))
    refusal = judge(bank, saver, plan)
    assert refusal is not None and refusal.rule == "simulator.position_bound"


@pytest.mark.usefixtures("db")
def test_interest_with_a_repayment_is_no_repayment(bank: Bank, saver: str, local_chain: World) -> None:
    borrow = call(bank, "borrow", DAI // 10, say(bank, saver, ("loan", -DAI // 10)))
    assert judge(bank, saver, borrow) is None
    bank.set_mood(4)
    refusal = judge(bank, saver, borrow)
    assert refusal is not None and refusal.rule == "simulator.position_bound"


@pytest.mark.usefixtures("db")
def test_a_position_that_is_born_is_named_by_its_protocol(bank: Bank, saver: str) -> None:
    where = bank.protocol.deployments(CHAIN_ID) or {}
    queued = PositionChange("made_up_bank", "request", where["cash"], 100 * DAI, 100 * DAI)
    leaves = say(bank, saver, ("cash", -100 * DAI))
    assert judge(bank, saver, call(bank, "request", 100 * DAI, (*leaves, queued))) is None
    less = PositionChange("made_up_bank", "request", where["cash"], 101 * DAI, 101 * DAI)
    refusal = judge(bank, saver, call(bank, "request", 100 * DAI, (*leaves, less)))
    assert refusal is not None and refusal.rule == "simulator.position_bound"


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(("owed_bps", "passes"), [(5_000, True), (6_000, False)])
def test_health_is_the_lower_of_the_protocols_word_and_our_feeds(
    bank: Bank, saver: str, owed_bps: int, passes: bool
) -> None:
    chain = open_chain()

    def value_of(token: str, raw: int) -> int:
        meta = chain.token(token)
        price = chain.price(meta)
        return raw * price.answer * 10**6 // 10 ** (meta.decimals + price.decimals)

    weth = chain.token("WETH").address
    owed = 1_000 * DAI * owed_bps // 10_000 * value_of(chain.token("DAI").address, 10**24) // value_of(weth, 10**24)
    plan = call(bank, "borrow", owed, say(bank, saver, ("loan", -owed)))
    simulation = run(bank, saver, plan)
    [after] = simulation.positions_after or ()
    health = measure_health(after, value_of)
    assert health is not None and abs(health - 8_000 * 10_000 // owed_bps) <= 2
    refusal = judge_health(plan=plan, simulation=simulation, floor_bps=FLOOR, value_of=value_of, is_raising=True)
    assert (refusal is None) is passes
    if refusal is not None:
        assert refusal.error is HealthTooLow and refusal.observed == "1.33"


@pytest.mark.usefixtures("db")
def test_a_protocol_that_only_speaks_up_is_asked_too(bank: Bank, saver: str) -> None:
    """The plan calls a stranger, whose code calls the bank for the saver; nothing in the plan names the bank."""
    elsewhere = TxPlan(CHAIN_ID, (Call(saver, b"", 0, "nothing"),))
    assert run(bank, saver, elsewhere).positions_after is None
    chain = open_chain()
    request = SimulationRequest(chain_id=CHAIN_ID, sender=saver, calls=deposit(bank, saver).calls, block=chain.block)
    asked: list[SimulationRequest] = []

    def run_once(wanted: SimulationRequest) -> SimulationResult:
        asked.append(wanted)
        return select_engine(CHAIN_ID, "rpc").run(wanted, deadline=Deadline.after_ms(10_000))

    told = run_asking(run_once, chain=chain, account=saver)(request)
    assert len(asked) == 2 and len(told.positions_after or ()) == 1


@pytest.mark.usefixtures("db")
def test_positions_are_read_side_by_side_in_two_batches(bank: Bank, saver: str) -> None:
    chain = open_chain()
    [position] = [each for each in read_positions(chain=chain, account=saver) if each.ref.protocol == "made_up_bank"]
    assert str(position.ref) == f"made_up_bank/account/{CHAIN_ID}/{saver}"
    assert position.raw_of(chain.token("DAI").address) == 1_000 * DAI
    assert PositionRef.parse(str(position.ref)) == position.ref
