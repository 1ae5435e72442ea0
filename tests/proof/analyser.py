"""Proof that a static analyser finds nothing in our contracts that was not looked at and answered.

Two rounds: known holes, each of which the analyser must report, then every contract of `contracts/src`, whose findings
must be those of `analysed/answers.toml`, one to one. Begins again when contracts, answers or the analyser are others.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.solidity import LOCK_FILE, SOURCE_DIR, read_sources
from tests.proof.analysed.answers import ANSWERS, Analysis, compare, read_answers
from tests.proof.analysed.environment import INSIDE, LOCK, analyse, install
from tests.proof.analysed.trees import describe_sources
from tests.proof.registry import Progress, proof

HOLES = Path(__file__).parent / "analysed" / "known_holes.sol"
HOLES_TO_FIND = {
    "trustOrigin(address)": "tx-origin",
    "runAnything(address,bytes)": "controlled-delegatecall",
    "payBeforeBooking()": "reentrancy-eth",
    "giveAway(address)": "arbitrary-send-eth",
    "hopeForTheBest(uint256)": "unchecked-transfer",
    "takeFromAnybody(address,uint256)": "arbitrary-send-erc20",
    "roundTooSoon(uint256)": "divide-before-multiply",
    "heir": "uninitialized-state",
    "end()": "suicidal",
}


@proof(
    id="analyser",
    what="a static analyser finds known holes, and in our contracts nothing unanswered",
    rounds=2,
)
def prove_analysed(progress: Progress) -> None:
    """Where the analyser cannot be had, that is told as a finding, and the next run tries again."""
    subject = _name_subject()
    if progress.done < progress.rounds or progress.notes[:1] != [subject]:
        progress.done, progress.findings, progress.notes = 0, [], [subject]
    for number in progress.remaining():
        try:
            note, findings = (_find_holes, _find_in_ours)[number % 2]()
        except EmbeddedError as error:
            progress.findings.append(str(error))
            return
        progress.notes.append(note)
        progress.findings += findings


def list_missed(analysis: Analysis) -> list[str]:
    """The known holes that were not reported."""
    reported = {(one.place, one.check) for one in analysis.findings}
    return [
        f"the analyser does not see {check} in {place} of {HOLES.name}: what it says of our contracts proves nothing"
        for place, check in HOLES_TO_FIND.items()
        if (place, check) not in reported
    ]


def _find_holes() -> tuple[str, list[str]]:
    python = install()
    described = describe_sources({HOLES.name: HOLES.read_text(encoding="utf-8")})
    analysis = analyse(python, described, HOLES.parent)
    missed = list_missed(analysis)
    return f"{len(HOLES_TO_FIND) - len(missed)} of {len(HOLES_TO_FIND)} known holes reported", missed


def _find_in_ours() -> tuple[str, list[str]]:
    began = time.monotonic()
    sources, answers = read_sources(), read_answers()
    analysis = analyse(install(), describe_sources(sources), SOURCE_DIR)
    findings = compare(analysis, answers)
    left_out = sum(one.check in answers.left_out for one in analysis.findings)
    by_impact = Counter(analysis.impacts[one.check] for one in analysis.findings if one.check not in answers.left_out)
    told = ", ".join(f"{by_impact[impact]} {impact}" for impact in ("high", "medium", "low") if by_impact[impact])
    return (
        f"{len(sources)} files, {len(analysis.impacts)} detectors, {len(analysis.findings)} findings: {left_out} of "
        f"classes left out, {told}; {len(findings)} lines differ from {ANSWERS.name}; {time.monotonic() - began:.0f} s",
        findings,
    )


def _name_subject() -> str:
    digest = hashlib.sha256()
    for path in (*sorted(SOURCE_DIR.glob("*.sol")), HOLES, ANSWERS, LOCK, INSIDE, LOCK_FILE):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"contracts, answers and analyser sha256:{digest.hexdigest()}"
