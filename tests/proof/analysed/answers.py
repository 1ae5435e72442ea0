"""Compares what the analyser finds with answers.toml: each finding without an answer is told, and the other way round.

An answer names a detector, a contract and places in it, and of each place the marks of what was looked at. A mark is
taken from a finding's own words without line numbers, so code that moves keeps it and code that changes does not.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).with_name("answers.toml")
# Detectors of these impacts may be left out as a class; what could lose money is answered place by place.
_MAY_BE_LEFT_OUT = frozenset({"informational", "optimization"})


@dataclass(frozen=True, slots=True)
class Finding:
    """What one detector says of one place. `place` is a function, a variable, or empty for the contract itself."""

    check: str
    contract: str
    place: str
    words: str

    @property
    def mark(self) -> str:
        """Eight hex digits over the words, whatever their order; lines of code may move, names and expressions not."""
        lines = sorted(re.sub(r"\.sol#[\d-]+", ".sol", line).strip() for line in self.words.splitlines())
        return hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()[:8]

    @property
    def spot(self) -> tuple[str, str, str]:
        """Detector, contract and place."""
        return self.check, self.contract, self.place


@dataclass(frozen=True, slots=True)
class Answer:
    """Why what a detector says of places of one contract is no danger: by place, the marks of what was looked at."""

    check: str
    contract: str
    why: str
    places: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers, and the detectors that are left out, each with its reason."""

    answers: tuple[Answer, ...]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the analyser said: the impact of every detector that ran, and the findings."""

    impacts: Mapping[str, str]
    findings: tuple[Finding, ...]


@dataclass
class _Tally:
    found: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)


def read_answers(path: Path = ANSWERS) -> Answers:
    """Raises ValueError on one that says nothing, or on two answers to the same place."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    answers = tuple(_read_answer(each) for each in told["answer"])
    spots = Counter((one.check, one.contract, place) for one in answers for place in one.places)
    twice = sorted(spot for spot, count in spots.items() if count > 1)
    if twice:
        raise ValueError(f"answered twice: {twice[0]}")
    return Answers(answers, told["left-out"])


def _read_answer(told: Mapping[str, Any]) -> Answer:
    places = {place: tuple(marks) for place, marks in told["places"].items()}
    if not told["why"].strip() or not places or not all(places.values()):
        raise ValueError(f"an answer without a reason or a place: {told['check']} in {told['contract']}")
    return Answer(told["check"], told["contract"], told["why"], places)


def read_analysis(told: Mapping[str, Any]) -> Analysis:
    """What inside.py writes."""
    findings = (Finding(one["check"], one["contract"], one["place"], one["description"]) for one in told["findings"])
    return Analysis(told["detectors"], tuple(findings))


def compare(analysis: Analysis, answers: Answers) -> list[str]:
    """A line for each finding without an answer, each answer without a finding, and each class left out wrongly."""
    lines = [
        f"{check} is left out and is {analysis.impacts.get(check, 'no detector of this version')}: "
        "answer its findings one by one"
        for check in answers.left_out
        if analysis.impacts.get(check) not in _MAY_BE_LEFT_OUT
    ]
    tallies: dict[tuple[str, str, str], _Tally] = {}
    for finding in analysis.findings:
        if finding.check not in answers.left_out:
            tally = tallies.setdefault(finding.spot, _Tally())
            tally.found[finding.mark] += 1
            tally.words[finding.mark] = finding.words.strip()
    for answer in answers.answers:
        for place, marks in answer.places.items():
            tallies.setdefault((answer.check, answer.contract, place), _Tally()).answered.update(marks)
    for (check, contract, place), tally in sorted(tallies.items()):
        where = f"{check} in {contract} {place}".rstrip()
        for mark in _list(tally.found - tally.answered):
            lines.append(f"{where}: not answered ({mark}): {tally.words[mark]}")
        for mark in _list(tally.answered - tally.found):
            lines.append(f"{where}: answered ({mark}) and not found: take the answer away, or see what took its place")
    return lines


def _list(marks: Counter[str]) -> Iterable[str]:
    return sorted(marks.elements())
