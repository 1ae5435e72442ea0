"""Where coding tools work."""

from __future__ import annotations

from golem_project.settings.environment import VAR_DIR, read_flag

GOLEM_CODING_DIR = VAR_DIR / "coding"  # a folder for each golem that codes on this server
# Whether owners may let commands on this server reach the network: its database, broker and nodes are on it too.
GOLEM_CODING_ALLOWS_NETWORK = read_flag("GOLEM_CODING_ALLOWS_NETWORK", False)
GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES", False)
