"""What was predicted of a golem's actions is counted beside what became of them: by class, and its own alone."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.models import OutcomeRecord, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.performance import prediction_accuracy
from permits_app.performance.prediction_accuracy import KeptPredictions
from tests import factories
from tests.factories.permits import EXPECTED
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.runner import run_read
from tools_app.subsystems.intel.calibration import calibrate
from tools_app.subsystems.intel.figure_basis import wilson
from tools_app.toolkit.predictions import PredictionKind
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db

REVERT = PredictionKind.REVERT


def ended(
    golem: Golem, figures: dict[str, Any], *, reverted: bool = False, received: int = EXPECTED, **columns: Any
) -> None:
    status = PermitStatus.REVERTED if reverted else PermitStatus.COMMITTED
    permit = factories.make_permit(
        golem=golem, status=status, finished_at=clock.now(), review={"verdict": "APPROVE", "figures": figures}
    )
    factories.make_outcome(permit=permit, received=received, **columns)


def count(golem: Golem, kind: PredictionKind) -> dict[str, tuple[int, int]]:
    return {each.name: (each.actions, each.happened) for each in KeptPredictions().count(golem_id=golem.pk, kind=kind)}


def chance(millionths: int) -> dict[str, str]:
    return {"revert_chance_millionths": str(millionths)}


def test_reverts_are_counted_by_the_chance_that_was_measured_before_them() -> None:
    owner = factories.make_owner(name="ana")
    golem, other = (factories.make_golem(owner=owner, name=name) for name in ("one", "other"))
    ended(golem, chance(0))
    ended(golem, chance(10_000))
    ended(golem, chance(1), reverted=True)
    ended(golem, chance(10_001))
    ended(golem, chance(50_000), reverted=True)
    # What was never predicted, what a reviewer would have vetoed, what never ran, and what a rollback took back.
    ended(golem, {}, reverted=True)
    ended(golem, chance(50_001), reverted=True)
    ended(golem, chance(0), reverted=True, is_cancelled=True)
    ended(golem, chance(0), reverted=True, taken_back_at=clock.now())
    ended(other, chance(0), reverted=True)
    assert count(golem, PredictionKind.REVERT) == {"0%": (1, 0), "up to 1%": (2, 1), "up to 5%": (2, 1)}
    assert count(factories.make_golem(owner=owner, name="new"), PredictionKind.REVERT) == dict.fromkeys(
        ("0%", "up to 1%", "up to 5%"), (0, 0)
    )


def test_trades_are_counted_by_their_size_and_came_short_from_a_tenth_of_a_percent_on() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    for part, received in (
        (9, EXPECTED),
        # To the last base unit of a tenth of a percent, and one less.
        (9, -(-EXPECTED * 9_990 // 10_000)),
        (9, -(-EXPECTED * 9_990 // 10_000) - 1),
        (10, EXPECTED - EXPECTED // 100),
        (99, EXPECTED),
        (499, 0),
        (500, 2 * EXPECTED),
    ):
        ended(golem, {"trade_of_pool_bps": part}, received=received)
    ended(golem, {"trade_of_pool_bps": 5}, reverted=True, received=0)
    assert count(golem, PredictionKind.TRADE_SIZE) == {
        "LOW": (4, 1),
        "MEDIUM": (2, 1),
        "HIGH": (1, 1),
        "CRITICAL": (1, 0),
    }


def test_only_the_newest_outcomes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    monkeypatch.setattr(prediction_accuracy, "NEWEST", 3)
    for _ in range(5):
        ended(golem, chance(0))
    assert count(golem, PredictionKind.REVERT)["0%"] == (3, 0)


@pytest.mark.parametrize(
    ("named", "reverted", "actions", "judged"),
    [
        # Of twenty that may each revert in up to a hundredth, none or one is what was predicted, and five are not.
        (10_000, 0, 20, "AS_PREDICTED"),
        (10_000, 1, 20, "AS_PREDICTED"),
        (10_000, 5, 20, "MORE_OFTEN"),
        (0, 0, 20, "AS_PREDICTED"),
        # Never in a hundred is less than one in twenty.
        (50_000, 0, 100, "LESS_OFTEN"),
        (10_000, 10, 19, "TOO_FEW"),
        (10_000, 0, 0, "TOO_FEW"),
    ],
)
def test_a_class_is_judged_by_whether_what_was_predicted_lies_in_the_interval_and_not_before_there_are_twenty(
    named: int, reverted: int, actions: int, judged: str
) -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    for number in range(actions):
        ended(golem, chance(named), reverted=number < reverted)
    name = {0: "0%", 10_000: "up to 1%", 50_000: "up to 5%"}[named]
    counted = next(each for each in KeptPredictions().count(golem_id=golem.pk, kind=REVERT) if each.name == name)
    found = calibrate(counted)
    assert found.judgement == judged
    if judged == "TOO_FEW":
        assert found.observed_share is None
        return
    assert float(found.observed_share or -1) == pytest.approx(reverted / actions, abs=1e-6)
    assert float(found.predicted_share or -1) == named / 10**6


def test_the_predicted_share_of_a_class_is_the_mean_of_what_was_named_before_its_actions() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    for named in (10_001, 20_000, 49_999):
        ended(golem, chance(named))
    # It was vetoed, or never predicted.
    ended(golem, chance(900_000))
    ended(golem, {})
    found = {each.name: each.predicted_millionths for each in KeptPredictions().count(golem_id=golem.pk, kind=REVERT)}
    assert found == {"0%": None, "up to 1%": None, "up to 5%": 80_000 // 3}


def test_a_model_that_names_no_chance_is_never_told_to_have_named_one() -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    for number in range(20):
        # A chance of the other model stands beside the size.
        ended(golem, {"trade_of_pool_bps": 5, **chance(10_000)}, received=0 if number < 4 else EXPECTED)
    kind = PredictionKind.TRADE_SIZE
    low, *others = (calibrate(each) for each in KeptPredictions().count(golem_id=golem.pk, kind=kind))
    assert (low.predicted, low.actions, low.happened, low.judgement) == ("LOW", 20, 4, "NO_CHANCE")
    assert low.predicted_share is None and low.observed_share == "0.2"
    assert {each.judgement for each in others} == {"TOO_FEW"}


def test_a_reviewed_swap_is_counted_and_told_by_both_reads_with_its_interval(live_golem: LiveGolem) -> None:
    # Everything is put to the safety-guardian, which measures both.
    SpendingLimits.objects.filter(golem=live_golem.golem).update(hot_lane_micro_usd=0)
    permit_id = live_golem.preview()["permit_id"]
    review = live_golem.permit(permit_id).review
    assert review["figures"]["trade_of_pool_bps"] >= 0, review
    live_golem.commit(permit_id)
    assert OutcomeRecord.live.get(permit_id=permit_id).is_verified
    pool = live_golem.world.pool("v3", "USDC", "WETH", 500).address
    for name, params, first in (
        ("intel_estimate_revert_risk", {"pool": pool, "trade_size_usd": "100"}, "0%"),
        ("intel_assess_mev_risk", {"token_in": "USDC", "token_out": "WETH", "amount_usd": "100"}, "LOW"),
    ):
        tool = REGISTRY.get(name)
        assert isinstance(tool, ReadTool)
        told = run_read(tool=tool, params=params, golem=view_golem(live_golem.golem), now=clock.now()).data
        counted = next(each for each in told["calibration"]["classes"] if each["predicted"] == first)
        assert (counted["actions"], counted["happened"]) == (1, 0), told["calibration"]
        assert float(counted["interval"][1]) == pytest.approx(wilson(0, 1)[1], abs=1e-6)
        assert (counted["judgement"], counted["observed_share"]) == ("TOO_FEW", None)
        assert (told["calibration"]["actions"], told["calibration"]["least_actions"]) == (1, 20)
        empty = [each for each in told["calibration"]["classes"] if each["predicted"] != first]
        assert all(each["interval"] is None and each["actions"] == 0 for each in empty)
