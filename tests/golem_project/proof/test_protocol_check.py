"""The one command that carries out whatever can refuse a protocol's folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from golem_project.embedded.world.protocols import find_protocol_worlds
from tests.architecture.sources import ROOT
from tests.protocol_check import CheckStep, list_addresses, list_steps, main, run
from tools_app.toolkit.protocol import SHELF


def test_every_file_that_it_names_is_there() -> None:
    named = {word for step in list_steps("sushi_bar") for word in step.command if word.startswith("tests/")}
    assert len(named) >= 15
    assert {word for word in named if not (ROOT / word).exists()} == set()


def test_it_finds_the_cases_of_a_folder_whatever_its_tools_are_called() -> None:
    [cases] = [step for step in list_steps("liquid_restaking") if step.name == "cases"]
    assert cases.command[-1].startswith("liquid_restaking or lrt_deposit")


def test_it_stops_at_the_first_step_that_fails_and_says_what_mends_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def say(name: str, status: int) -> CheckStep:
        code = f"import pathlib, sys; pathlib.Path({str(tmp_path)!r}, {name!r}).touch(); sys.exit({status})"
        return CheckStep(name, (sys.executable, "-c", code), f"mend {name}")

    assert run([say("first", 0), say("second", 3), say("third", 0)]) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]
    assert "second failed. Fix: mend second" in capfd.readouterr().out


def test_it_goes_on_from_a_step_and_refuses_one_that_it_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sushi_bar", "--from", "halts", "--list"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("halts:") and "contracts:" in told and "lint:" not in told
    with pytest.raises(SystemExit):
        main(["sushi_bar", "--from", "nowhere"])


@pytest.mark.parametrize(("name", "key"), [("sushi_bar", "bar"), ("ethena", "susde")])
def test_it_tells_where_the_first_contract_of_a_deployer_lies(name: str, key: str) -> None:
    protocol = SHELF.get(name)
    assert protocol is not None and name in find_protocol_worlds()
    assert protocol.address(31_337, key) == next(list_addresses(name))
