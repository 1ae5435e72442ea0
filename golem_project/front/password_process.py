"""Hashes passwords in a process that does nothing else and gives way to the server.

Run by path with the standard library only. Each line of its input is JSON: `password`, `salt`, `iterations`. Each is
answered by a line: PBKDF2 with SHA-256, in base64. It ends with its input.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from pathlib import Path

NICENESS = 5
_SHARE_OF_SESSION = Path("/proc/self/autogroup")


def main() -> None:
    """Give way, then hash."""
    os.nice(NICENESS)
    try:
        # Linux may share processors out between sessions first, of which this is one.
        _SHARE_OF_SESSION.write_text(str(NICENESS))
    except OSError:
        pass
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        raw = hashlib.pbkdf2_hmac(
            "sha256", asked["password"].encode(), asked["salt"].encode(), int(asked["iterations"])
        )
        sys.stdout.write(base64.b64encode(raw).decode("ascii") + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
