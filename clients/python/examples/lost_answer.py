"""A swap that is paid once, whatever is lost on the way: run it again until it says how the swap ended.

Before anything is asked that has an effect, what it is asked under is written down: the key of the preview, then the
permit and the key of its commit. After a lost answer, or a crash, the same program goes on from that file. It asks
again under the same key, so the server gives the first answer again and nothing happens twice.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

from golem_client import GolemClient, GolemProblem, GolemUnreachable

SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
COME_AGAIN = 75
"""Exit status of a run after which nobody knows yet what happened (sysexits' EX_TEMPFAIL)."""


def read_note(path: Path) -> dict[str, Any]:
    """What an earlier run wrote down."""
    noted: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return noted


def write_note(path: Path, noted: dict[str, Any]) -> None:
    """Write it down before it is done, whole or not at all."""
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps(noted))
    scratch.replace(path)


def swap_once(golem: GolemClient, path: Path) -> str:
    """How the swap of this note ended. Raises GolemUnreachable while that is not known, GolemProblem."""
    noted = read_note(path)
    if "preview_key" not in noted:
        noted["preview_key"] = str(uuid.uuid4())
        write_note(path, noted)
    if "permit_id" not in noted:
        permit = golem.preview_action(**SWAP, idempotency_key=noted["preview_key"])
        noted |= {"permit_id": permit["permit_id"], "commit_key": str(uuid.uuid4())}
        write_note(path, noted)
    try:
        golem.commit_action(permit_id=noted["permit_id"], idempotency_key=noted["commit_key"])
    except GolemProblem as problem:
        # Its key was forgotten meanwhile, or somebody else sent it: the permit says how that ended.
        if problem.code != "PERMIT_ALREADY_COMMITTED":
            raise
    return str(golem.wait_for_outcome(noted["permit_id"])["status"])


def main() -> int:
    """Print how the swap of the note in the first argument ended, or exit with COME_AGAIN."""
    golem = GolemClient(os.environ.get("GOLEM_URL", "http://127.0.0.1:8000"), os.environ["GOLEM_TOKEN"])
    try:
        print(swap_once(golem, Path(sys.argv[1])))
    except GolemUnreachable as error:
        print(f"{error}; run this again", file=sys.stderr)
        return COME_AGAIN
    return 0


if __name__ == "__main__":
    sys.exit(main())
