"""The reference interpreter, in an environment of its own under var/cache, because its pins conflict with ours.

Made once with pip from PyPI, only the pinned versions; a machine that has none says so instead of passing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT

REFERENCE_DIR = CHECKOUT / "var" / "cache" / "evm-reference"
PINS = (
    "ethereum-execution==2.20.0",
    "ethereum-rlp==0.1.7",
    "ethereum-types==0.2.5",
    "py-ecc==8.0.0",
    "coincurve==20.0.0",
    "cryptography==45.0.7",
    "pycryptodome==3.24.1",
)
INSTALL_TIMEOUT_SECONDS = 600
_WORKER = Path(__file__).with_name("reference_worker.py")


class Reference:
    """A running reference interpreter: one case in, one answer out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run_case(self, case: dict[str, Any]) -> dict[str, Any]:
        """What the reference makes of a case. Raises EmbeddedError when it ended."""
        self.start_case(case)
        return self.read_answer()

    def start_case(self, case: dict[str, Any]) -> None:
        """Hand a case over without waiting."""
        if self._process.stdin is None:
            raise AssertionError("opened with a pipe")
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()

    def read_answer(self) -> dict[str, Any]:
        """The answer to the oldest case handed over. Raises EmbeddedError when the interpreter ended."""
        if self._process.stdout is None:
            raise AssertionError("opened with a pipe")
        line = self._process.stdout.readline()
        if not line:
            raise EmbeddedError(f"The reference interpreter ended. Fix: remove {REFERENCE_DIR}, run it again.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def reference_python() -> Path:
    """The interpreter of the reference's environment, which may not exist yet."""
    return REFERENCE_DIR / "bin" / "python"


def is_installed() -> bool:
    """Whether exactly the pinned versions were installed."""
    try:
        return (REFERENCE_DIR / "pins.txt").read_text() == "\n".join(PINS)
    except OSError:
        return False


def install_reference() -> None:
    """Make the environment when it is not there. Raises EmbeddedError."""
    if is_installed():
        return
    venv.create(REFERENCE_DIR, with_pip=True, clear=True)
    command = [str(reference_python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PINS]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise EmbeddedError(
            f"The reference interpreter cannot be installed ({type(error).__name__}). "
            f"Fix: check that pip reaches PyPI, or run: {' '.join(command)}"
        ) from error
    (REFERENCE_DIR / "pins.txt").write_text("\n".join(PINS))


@contextmanager
def run_reference() -> Iterator[Reference]:
    """The reference for the length of a block, installed when it is not. Raises EmbeddedError."""
    install_reference()
    process = subprocess.Popen(
        [str(reference_python()), "-I", str(_WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
    )
    try:
        yield Reference(process)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
