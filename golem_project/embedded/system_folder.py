"""The per-checkout folder outside of the checkout, for what `nobody` must reach and could not reach inside.

The standard library only: `reset` reads this file also where nothing is installed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

SYSTEM_DATA_ROOT = Path("/var/lib/golem")


def system_data_dir(var_dir: Path) -> Path:
    """The folder that belongs to this var folder; whether it exists or not."""
    return SYSTEM_DATA_ROOT / hashlib.sha256(str(var_dir).encode()).hexdigest()[:16]
