"""What grows by itself where it lies, a rebase or interest, is earned: no price, and no payment of anybody."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from permits_app.performance.nav_parts import NavState, OwnMoves, Parts, split_change
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import Stage, open_stage
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.lido.staking import ETH, report
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.views import NATIVE


def split(stage: Stage, happens: Callable[[], None]) -> Parts:
    before = stage.holdings()
    happens()
    after = stage.holdings()
    return split_change(
        before=NavState.of(before),
        after=NavState.of(after),
        change=after.nav_micro_usd - before.nav_micro_usd,
        own=OwnMoves(),
        coin=NATIVE,
    )


def open_with(golem: LiveGolem, case: str) -> Stage:
    stage = open_stage(golem, load_cases())
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=(case,)))
    return stage


@pytest.mark.protocols("lido")
@pytest.mark.parametrize(("earned", "lost"), [(90 * ETH, 0), (0, 90 * ETH)])
def test_a_rebase_is_earned_or_lost_whole(live_golem: LiveGolem, earned: int, lost: int) -> None:
    stage = open_with(live_golem, "lido_stake_rebasing")
    parts = split(stage, lambda: report(live_golem.world, earned=earned, lost=lost))
    assert (parts.fees_and_interest > 1_000_000) == bool(earned) and parts.fees_and_interest != 0
    assert parts == Parts(fees_and_interest=parts.fees_and_interest) and parts.profit == parts.fees_and_interest


@pytest.mark.protocols("aave_v3")
def test_interest_on_a_debt_is_a_cost_and_that_on_its_cover_is_earned(live_golem: LiveGolem) -> None:
    stage = open_with(live_golem, "aave_borrow")
    parts = split(stage, lambda: stage.pass_days(30))
    assert parts == Parts(fees_and_interest=parts.fees_and_interest) and parts.fees_and_interest != 0
