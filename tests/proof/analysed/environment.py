"""The environment that the analyser lives in, apart from the product's: made once from packages.lock beside this file.

It is made by the proof alone, below var/cache; set-up and tests neither make nor need it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from golem_project.embedded.bootstrap import SYSTEM_CERTIFICATES
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from tests.proof.analysed.answers import Analysis, read_analysis

LOCK = Path(__file__).with_name("packages.lock")
INSIDE = Path(__file__).with_name("inside.py")
FOLDER = CHECKOUT / "var" / "cache" / "analyser"
MOST_SECONDS_TO_INSTALL = 900
MOST_SECONDS_TO_ANALYSE = 900
_FIX = (
    "Fix: let this machine reach pypi.org or a mirror, then make proof ONLY=analyser again. Nothing else needs it."
    f" Where it is installed and fails, remove {FOLDER} first."
)


class AnalyserUnavailable(EmbeddedError):
    """The analyser could not be installed or did not run: nothing was proven, and nothing was found either."""


def install(folder: Path = FOLDER) -> Path:
    """Make the environment unless it is there and was made from this lock; its Python. Raises AnalyserUnavailable."""
    python, stamp = folder / "bin" / "python", folder / "golem-analyser.stamp"
    wanted = hashlib.sha256(LOCK.read_bytes() + sys.version.encode() + str(folder).encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # With pip in it: pip follows the machine's own mirrors where uv gets no answer.
    _run([sys.executable, "-m", "venv", str(folder)], "the analyser's environment could not be made")
    locked = ["--quiet", "--require-hashes", "-r", str(LOCK)]
    certificates = ["--system-certs"] if SYSTEM_CERTIFICATES.exists() else []
    with_uv = [sys.executable, "-m", "uv", "pip", "install", "--python", str(python), *certificates, *locked]
    try:
        _run(with_uv, "the analyser's packages could not be installed with uv")
    except AnalyserUnavailable:
        with_pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", *locked]
        _run(with_pip, "the analyser's packages could not be installed from PyPI")
    stamp.write_text(wanted)
    return python


def analyse(python: Path, described: dict[str, Any], folder: Path) -> Analysis:
    """What every detector says of compiled sources that lie in `folder`. Raises AnalyserUnavailable."""
    command = [str(python), "-I", str(INSIDE)]
    told = _run(
        command, "the analyser did not run", stdin=json.dumps(described), folder=folder, seconds=MOST_SECONDS_TO_ANALYSE
    )
    return read_analysis(json.loads(told))


def _run(
    command: list[str],
    problem: str,
    *,
    stdin: str = "",
    folder: Path = CHECKOUT,
    seconds: int = MOST_SECONDS_TO_INSTALL,
) -> str:
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=seconds, check=False, cwd=folder
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AnalyserUnavailable(f"Nothing was analysed: {problem} ({error}). {_FIX}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or f"exit {done.returncode}").splitlines()[-1]
        raise AnalyserUnavailable(f"Nothing was analysed: {problem} ({last}). {_FIX}")
    return done.stdout
