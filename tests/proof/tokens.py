"""Every token that lies, at every moment, in every action: the whole of the table that the tests hold a third of.

A round is one action. The tests are run as they are, on throw-away servers of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.registry import Progress, proof

ACTIONS: Final = ("buy", "sell", "send", "supply")
_TABLE: Final = "tests/adversary/test_token_zoo.py"
_MOST_SECONDS: Final = 1_800


@proof(id="tokens", what="tokens that do other than they say, the whole table", rounds=len(ACTIONS))
def prove_tokens(progress: Progress) -> None:
    """Each cell is refused with a code or ends in a true outcome; what is not is a finding."""
    for number in progress.remaining():
        action = ACTIONS[number]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", _TABLE, "-q", "-p", "no:cacheprovider", "-k", f"[{action}]"],
            cwd=CHECKOUT,
            env={**os.environ, "GOLEM_TOKEN_ZOO": "whole"},
            capture_output=True,
            text=True,
            timeout=_MOST_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            told = [line for line in done.stdout.splitlines() if ": wrong" in line] or done.stdout.splitlines()[-3:]
            progress.findings += [f"{action}: {line}" for line in told]
