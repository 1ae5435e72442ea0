"""Writes the analyser's packages.lock: what it needs, with the hashes of every file. `make lock`."""

from __future__ import annotations

import hashlib
import sys
from datetime import UTC, datetime
from pathlib import Path

from golem_project.embedded.lock_packages import OLD_ENOUGH, compile_lock
from tests.proof.analysed.environment import LOCK

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_HEADER = """\
# Written by `make lock`: what `make proof ONLY=analyser` installs, with the hashes of every file. Not to be edited.
# inputs: {inputs}
"""


def digest_inputs() -> str:
    """SHA-256 over what the lock is made from."""
    return hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()


def main() -> int:
    """Lock, or say why not."""
    before = datetime.now(UTC).replace(microsecond=0) - OLD_ENOUGH
    blocks = compile_lock([str(REQUIREMENTS), "--exclude-newer", before.isoformat()])
    if not blocks:
        sys.stderr.write(f"lock: the analyser's packages were not locked, see above; {LOCK} is as it was\n")
        return 1
    LOCK.write_text(_HEADER.format(inputs=digest_inputs()) + "".join(blocks), encoding="utf-8")
    sys.stderr.write(f"lock: {len(blocks)} packages of the analyser\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
