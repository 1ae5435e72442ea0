"""Sets where coding tools work."""

from __future__ import annotations

import os
from pathlib import Path

from golem_project.settings.environment import BASE_DIR, VAR_DIR, read_flag, read_integer

GOLEM_CODING_DIR = VAR_DIR / "coding"  # a folder for each golem that codes on this server
# Whether owners may let commands on this server reach the network: its database, broker and nodes are on it too.
GOLEM_CODING_ALLOWS_NETWORK = read_flag("GOLEM_CODING_ALLOWS_NETWORK", False)
# Whether commands run on this server at all; files, and machines of owners, are reached without.
GOLEM_CODING_COMMANDS = read_flag("GOLEM_CODING_COMMANDS", True)
# What all processes of one command take together at most.
GOLEM_CODING_MEMORY_MEBIBYTES = read_integer("GOLEM_CODING_MEMORY_MEBIBYTES", 1024)
_NAMED = [
    Path(value)
    for name, value in sorted(os.environ.items())
    if value and (name in {"PGPASSFILE", "PGSSLKEY"} or name.startswith("GOLEM_") and name.endswith(("_FILE", "_DIR")))
]
# The code, the data and whatever file a variable names: where commands would be shown one of them, none is run.
GOLEM_KEPT_FROM_COMMANDS = (BASE_DIR, VAR_DIR, *_NAMED)
GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES", False)
