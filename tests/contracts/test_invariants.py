"""A hostile session key, thousands of random batches, and no bound broken; the long form is `make proof`."""

from __future__ import annotations

from collections import Counter

from permits_app.policy_cage.contract import Limit, decode_cage_error
from tests.proof.cage import BATCHES_PER_RUN, VARIANTS, Siege, run_siege
from tests.proof.caged.engines import InProcessEngine
from tests.proof.caged.invariants import Bounds
from tests.proof.caged.safe import DEFAULT_LIMITS

BATCHES_ON_THE_NODE = 20_000
BATCHES_IN_PROCESS = 1_000
# What the batches must at least have run into, or they would prove nothing.
REFUSALS = {
    "LossTooLarge",
    "LossInWindowTooLarge",
    "OutflowTooLarge",
    "OutflowInWindowTooLarge",
    "PositionTooLarge",
    "ConcentrationTooLarge",
    "CollateralRatioTooLow",
    "RebalanceTooSoon",
    "TooManyRebalances",
    "DrawdownExceeded",
    "AllowanceTooLarge",
    "SpenderNotAllowed",
    "SelectorForbidden",
    "TargetForbidden",
    "TargetHasNoCode",
    "CallNotAllowed",
    "CoinNotApproved",
    "CallFailed",
}


def test_twenty_thousand_hostile_batches_break_no_bound_on_the_node() -> None:
    seen: Counter[str | None] = Counter()
    with run_siege() as siege:
        for number, findings, steps in siege.run_many(range(BATCHES_ON_THE_NODE // BATCHES_PER_RUN)):
            assert findings == [], f"run {number}"
            seen.update("ran" if s.sent.succeeded else decode_cage_error(s.sent.output).name for s in steps)
    assert sum(seen.values()) == BATCHES_ON_THE_NODE
    assert seen["ran"] > BATCHES_ON_THE_NODE // 10
    assert REFUSALS <= seen.keys()


def test_a_thousand_hostile_batches_break_no_bound_in_process() -> None:
    engine = InProcessEngine()
    siege = Siege(engine)
    ran = 0
    for number in range(BATCHES_IN_PROCESS // BATCHES_PER_RUN):
        snapshot = engine.snapshot()
        findings, steps = siege.run(number)
        engine.revert(snapshot)
        assert findings == [], f"run {number}"
        ran += sum(step.sent.succeeded for step in steps)
    assert ran > BATCHES_IN_PROCESS // 10


def test_a_cage_that_keeps_a_looser_bound_is_found_out() -> None:
    stricter = {
        Limit.MAX_LOSS_BPS: 100,
        Limit.MAX_WINDOW_LOSS_BPS: 1,
        Limit.MAX_POSITION_BPS: 100,
        Limit.MAX_CONCENTRATION_BPS: 1_600,
        Limit.MIN_COLLATERAL_RATIO_BPS: 100_000,
        Limit.MIN_REBALANCE_INTERVAL_SECONDS: 86_400,
        Limit.HIGH_WATER_MARK_MICRO_USD: 10**12,
    }
    with run_siege() as siege:
        steps = {number: siege.run(number)[1] for number in range(0, 10 * len(VARIANTS), len(VARIANTS))}
        for limit, value in stricter.items():
            found = [
                line
                for number in steps
                for line in Bounds(
                    siege.watches[0].caged, siege.starts[0], limits={**DEFAULT_LIMITS, limit: value}
                ).check_run(steps[number])
            ]
            assert found, limit.name
        poorer = Bounds(siege.watches[0].caged, siege.starts[0], budget_usd=500)
        assert any("more than the session may" in line for line in poorer.check_run(steps[0]))
