"""The rounds of random walks: every seed once, and a walk that breaks a rule is a finding that ends no other."""

from __future__ import annotations

from pathlib import Path

from tests.proof.registry import Progress
from tests.proof.walks import require, walk_rounds


def test_every_seed_is_walked_once_and_a_broken_rule_is_a_finding(tmp_path: Path) -> None:
    walked: list[int] = []

    def walk(seed: int) -> None:
        walked.append(seed)
        require(seed != 7, "seven")

    progress = Progress(id="walks", what="", rounds=3, path=tmp_path / "proof.json", done=1)
    walk_rounds(progress, walk)

    assert walked == list(range(5, 15))
    assert progress.findings == ["walk 7: seven"]
    assert progress.done == 3
