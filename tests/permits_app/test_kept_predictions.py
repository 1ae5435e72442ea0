"""What was predicted of a golem's actions is counted beside what became of them: by class, and its own alone."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.models import OutcomeRecord, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.performance import kept_predictions
from permits_app.performance.kept_predictions import KeptPredictions
from tests import factories
from tests.factories.permits import EXPECTED
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.runner import run_read
from tools_app.subsystems.intel.basis import wilson
from tools_app.toolkit.predictions import PredictionKind
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db


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
    monkeypatch.setattr(kept_predictions, "NEWEST", 3)
    for _ in range(5):
        ended(golem, chance(0))
    assert count(golem, PredictionKind.REVERT)["0%"] == (3, 0)


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
        empty = [each for each in told["calibration"]["classes"] if each["predicted"] != first]
        assert all(each["interval"] is None and each["actions"] == 0 for each in empty)
