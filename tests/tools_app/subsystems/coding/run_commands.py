"""Runs commands behind the fences as whoever runs this: JSON in, a command by name; JSON out, what it said
by name. Further arguments are what commands must not see.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools_app.subsystems.coding.detect_sandbox_fences import uid_of
from tools_app.subsystems.coding.errors import CommandsNotFenced
from tools_app.subsystems.coding.fenced_commands import FencedCommands

TIMEOUT_MS = 15_000


def main() -> None:
    kept = [Path(each) for each in sys.argv[2:]]
    commands = FencedCommands(Path(sys.argv[1]), uid=uid_of(1), allows_network=False, kept=kept)
    told = {}
    for name, command in json.load(sys.stdin).items():
        try:
            ran = commands.run(command, timeout_ms=TIMEOUT_MS)
        except CommandsNotFenced as refusal:
            told[name] = f"{refusal.code}: {refusal.detail}"
        else:
            said = (ran.stdout + ran.stderr).decode(errors="replace").strip()
            told[name] = said if said or ran.exit_code == 0 else f"{ran.ended_by}"
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
