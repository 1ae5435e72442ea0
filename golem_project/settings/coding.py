"""Where coding tools work."""

from __future__ import annotations

from golem_project.settings.environment import VAR_DIR, read_flag

GOLEM_CODING_DIR = VAR_DIR / "coding"  # a folder for each golem that codes on this server
GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES", False)
