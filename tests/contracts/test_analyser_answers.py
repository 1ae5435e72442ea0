"""What the static analyser's findings are compared with: true of the contracts, complete, and never out of date.

The analyser itself runs in `make proof ONLY=analyser`; here is what needs no analyser.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from golem_project.embedded.lock_packages import split_blocks
from golem_project.embedded.world.solidity import read_sources
from tests.proof import analyser
from tests.proof.analysed import environment, locking
from tests.proof.analysed.answers import Analysis, Answers, compare, read_analysis, read_answers
from tests.proof.analysed.environment import AnalyserUnavailable, install
from tests.proof.registry import Progress

# As the analyser wrote it of two contracts of ours.
OF_DEADLINE = {
    "check": "timestamp",
    "contract": "Deadline",
    "place": "mustBeBefore(uint256)",
    "description": "Deadline.mustBeBefore(uint256) (Deadline.sol#11-13) uses timestamp for comparisons\n"
    "\tDangerous comparisons:\n\t- block.timestamp >= deadline (Deadline.sol#12)\n",
}
OF_RELAYER = {
    "check": "assembly",
    "contract": "Relayer",
    "place": "relay(address,bytes)",
    "description": "Relayer.relay(address,bytes) (Relayer.sol#6-12) uses assembly\n\t- INLINE ASM (Relayer.sol#9-11)\n",
}
IMPACTS = {"timestamp": "low", "assembly": "informational", "unused-return": "medium"}
ANSWERED = """
[left-out]
assembly = "a note on style"

[[answer]]
check = "timestamp"
contract = "Deadline"
why = "The second that owners were told."
[answer.places]
"mustBeBefore(uint256)" = ["MARK"]
"""


@pytest.fixture
def recorded() -> Analysis:
    return read_analysis({"detectors": IMPACTS, "findings": [OF_DEADLINE, OF_RELAYER]})


def write_answers(folder: Path, text: str, *, mark: str) -> Answers:
    path = folder / "answers.toml"
    path.write_text(text.replace("MARK", mark), encoding="utf-8")
    return read_answers(path)


def find_contract(name: str) -> str:
    """The text of a contract, to where the next one of its file begins."""
    for text in read_sources().values():
        found = re.search(
            rf"^(?:abstract )?(?:contract|interface) {name}\b.*?(?=^(?:abstract )?contract |\Z)", text, re.M | re.S
        )
        if found:
            return found[0]
    raise AssertionError(f"no contract is called {name}")


def is_there(place: str, text: str) -> bool:
    """A function by its name, a variable by its own, and the contract itself."""
    name, is_function, _ = place.partition("(")
    if not is_function:
        return re.search(rf"\b{name}\b", text) is not None
    return re.search(r"\bconstructor\(" if name == "constructor" else rf"\bfunction {name}\(", text) is not None


def test_every_answer_names_a_contract_and_a_function_or_variable_that_exist() -> None:
    answers = read_answers().answers
    missing = [
        (answer.contract, place)
        for answer in answers
        for place in answer.places
        if not is_there(place, find_contract(answer.contract))
    ]
    assert len(answers) > 100
    assert missing == []


def test_a_place_that_does_not_exist_is_seen_not_to() -> None:
    text = find_contract("Deadline")
    assert is_there("mustBeBefore(uint256)", text) and is_there("", text)
    assert not is_there("mustBeAfter(uint256)", text) and not is_there("owner", text)


def test_what_could_lose_money_is_answered_in_the_contracts_of_the_cage_one_by_one() -> None:
    answers = read_answers()
    answered = {answer.check for answer in answers.answers}
    assert {"reentrancy-no-eth", "controlled-delegatecall", "uninitialized-state", "unused-return"} <= answered
    assert not answered & set(answers.left_out)
    assert min(len(why) for why in (*answers.left_out.values(), *(one.why for one in answers.answers))) > 20


def test_findings_that_are_answered_pass(recorded: Analysis, tmp_path: Path) -> None:
    assert compare(recorded, write_answers(tmp_path, ANSWERED, mark=recorded.findings[0].mark)) == []


def test_a_finding_that_nobody_answered_fails(recorded: Analysis) -> None:
    [line] = compare(recorded, Answers((), {"assembly": "a note on style"}))
    assert line.startswith("timestamp in Deadline mustBeBefore(uint256): not answered")
    assert "block.timestamp >= deadline" in line


def test_a_second_finding_in_an_answered_place_fails(recorded: Analysis, tmp_path: Path) -> None:
    answers = write_answers(tmp_path, ANSWERED, mark=recorded.findings[0].mark)
    [line] = compare(Analysis(recorded.impacts, recorded.findings + recorded.findings[:1]), answers)
    assert "not answered" in line


def test_an_answer_to_what_is_no_longer_found_fails(recorded: Analysis, tmp_path: Path) -> None:
    answers = write_answers(tmp_path, ANSWERED, mark=recorded.findings[0].mark)
    [line] = compare(Analysis(recorded.impacts, recorded.findings[1:]), answers)
    assert "and not found" in line


def test_code_that_moves_keeps_its_answer_and_code_that_changes_loses_it(recorded: Analysis, tmp_path: Path) -> None:
    answers = write_answers(tmp_path, ANSWERED, mark=recorded.findings[0].mark)
    told = OF_DEADLINE["description"]

    def say(description: str) -> list[str]:
        findings = [{**OF_DEADLINE, "description": description}]
        return compare(read_analysis({"detectors": IMPACTS, "findings": findings}), answers)

    assert say(told.replace("#12", "#99").replace("#11-13", "#98-100")) == []
    assert len(say(told.replace(">= deadline", "> deadline"))) == 2


@pytest.mark.parametrize("check", ["timestamp", "unused-return", "no-such-detector"])
def test_a_detector_of_what_could_lose_money_is_not_left_out_as_a_class(recorded: Analysis, check: str) -> None:
    lines = compare(Analysis(recorded.impacts, ()), Answers((), {check: "nobody reads that"}))
    assert len(lines) == 1 and lines[0].startswith(f"{check} is left out")


@pytest.mark.parametrize(
    "text",
    [
        ANSWERED.replace("The second that owners were told.", " "),
        ANSWERED.replace('["MARK"]', "[]"),
        ANSWERED + ANSWERED.partition("\n\n")[2],
    ],
    ids=["without a reason", "without a mark", "twice"],
)
def test_an_answer_without_reason_or_mark_or_given_twice_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="without a reason or a place|answered twice"):
        write_answers(tmp_path, text, mark="0" * 8)


def test_an_analyser_that_sees_no_hole_proves_nothing() -> None:
    assert len(analyser.list_missed(Analysis({}, ()))) == len(analyser.HOLES_TO_FIND) > 5
    text = analyser.HOLES.read_text(encoding="utf-8")
    assert all(is_there(place, text) for place in analyser.HOLES_TO_FIND)


def test_the_analysers_packages_are_locked_with_hashes_from_its_requirements() -> None:
    text = environment.LOCK.read_text(encoding="utf-8")
    blocks = split_blocks(text)
    assert f"# inputs: {locking.digest_inputs()}\n" in text, "run `make lock` and look at the difference"
    assert any(block.startswith("slither-analyzer==") for block in blocks)
    assert [block for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.slow
def test_a_machine_without_a_registry_is_told_what_to_do_and_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        **{"UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_NO_CONFIG": "1", "UV_FIND_LINKS": ""},
        **{"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)},
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(analyser, "install", partial(install, tmp_path / "analyser"))
    progress = Progress("analyser", "it", 2, tmp_path / "proof.json", findings=["of an earlier run"])
    for _ in range(2):
        analyser.prove_analysed(progress)
        [told] = progress.findings
        assert "could not be installed" in told and "Fix: let this machine reach pypi.org" in told
        assert progress.done == 0
    with pytest.raises(AnalyserUnavailable):
        install(tmp_path / "analyser")
