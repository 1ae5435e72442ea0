"""Heists among real markets leave the owners what the rules say, and find a hole that is put back.

The long form is `make proof`: every hole, and a million batches (measured: docs/policy-cage-findings.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golem_project.embedded.world.solidity import read_sources
from permits_app.policy_cage.contract import decode_cage_error
from tests.proof.heist import Gang, is_published, look_for, run_scene
from tests.proof.heists.crew import call_together
from tests.proof.heists.holes import HOLES, Carpenter, Hole, HoleNotThereError, change_sources
from tests.proof.heists.steps import Act, Finding
from tools_app.simulation.turbo.screening import is_turbo_installed

HEISTS = 100
# What the batches must at least have run into, or they would prove nothing.
REFUSALS = {
    "ConditionNotMet",
    "LossTooLarge",
    "PhaseForbids",
    "OutflowTooLarge",
    "TargetForbidden",
    "CoverTooLow",
    "RebalanceTooSoon",
    "PriceJumped",
    "SequencerNotUp",
    "RoleMayNotCall",
}


@pytest.fixture(scope="module")
def gang() -> Iterator[Gang]:
    with run_scene() as scene:
        yield Gang(scene)


def test_after_heists_among_real_markets_the_owners_own_what_the_rules_leave_them(gang: Gang) -> None:
    answers: list[str] = []
    for number in range(HEISTS):
        played = gang.run(number)
        assert played.found == [], f"heist {number}"
        for step, sent in zip(played.heist.steps, played.sent, strict=True):
            if step.act is Act.BATCH:
                answers.append("ran" if sent.succeeded else decode_cage_error(sent.output).name or "")
    assert len(answers) > 10 * HEISTS
    assert answers.count("ran") > len(answers) // 20
    assert set(answers) >= REFUSALS


@pytest.mark.skipif(not is_turbo_installed(), reason="not run: pyrevm (requirements-turbo.txt) is absent")
def test_the_machine_in_this_process_does_what_the_node_does_step_by_step(gang: Gang) -> None:
    assert gang.machine is not None
    for number in range(8):
        here, there = gang.run(number), gang.run_on_node(number)
        assert [(sent.succeeded, sent.output, sent.at) for sent in here.sent] == [
            (sent.succeeded, sent.output, sent.at) for sent in there.sent
        ]
        assert here.found == there.found == []


def test_workers_find_what_one_process_finds(gang: Gang) -> None:
    with call_together(gang, workers=2) as crew:
        outcomes = list(crew.run(range(4)))
    played = [gang.run(number) for number in range(4)]
    assert [one.number for one in outcomes] == [0, 1, 2, 3]
    assert [one.batches for one in outcomes] == [one.heist.batches for one in played]
    assert all(one.found == [] for one in outcomes)


def test_a_heist_depends_on_its_number_alone(gang: Gang) -> None:
    assert gang.planner.make(7) == gang.planner.make(7) != gang.planner.make(8)


def test_a_hole_that_is_put_back_is_found_and_closed_again(gang: Gang) -> None:
    [hole] = [hole for hole in HOLES if hole.id == "L9"]
    carpenter = Carpenter(gang.scene)
    assert all(is_published(name, code) for name, code in carpenter.deployed.items())
    note, findings = look_for(hole, gang, carpenter)
    assert findings == []
    assert Finding.OWNED in note
    assert gang.run(1).found == []


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.id)
def test_every_hole_is_a_change_of_todays_source(hole: Hole) -> None:
    sources = read_sources()
    changed = change_sources(hole, sources)
    assert [name for name in sources if sources[name] != changed[name]] == [hole.file]
    with pytest.raises(HoleNotThereError, match=hole.id):
        change_sources(hole, changed)
