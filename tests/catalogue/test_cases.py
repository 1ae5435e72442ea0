"""Every case of every tool on the shelf is carried out on the protocol's own code, and held to all that it says."""

from __future__ import annotations

import pytest

from tests.catalogue.proofs import find_wrong
from tests.catalogue.said_steps import SaidSteps
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import call_refused, open_stage
from tests.live_golem import LiveGolem

CASES = load_cases()
STEPS = SaidSteps({name: (filed.case.tool,) for name, filed in CASES.items() if not filed.case.refused})
"""Who is refused is told of no step that comes after."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.protocols(*filed.worlds)) for name, filed in CASES.items()]
)
def test_a_case_is_true_in_every_way(name: str, live_golem: LiveGolem) -> None:
    stage, case = open_stage(live_golem, CASES), CASES[name].case
    stage.prepare(case)
    if case.refused:
        error = call_refused(stage, case)
        assert error is not None and error.code == case.refused
        return
    with STEPS.heard(name):
        assert not (wrong := find_wrong(stage, case)), "\n".join(wrong)
