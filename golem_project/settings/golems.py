"""Sets what a new golem starts with, and what this server lends to all golems."""

from __future__ import annotations

from golem_project.settings.environment import read_optional_secret, read_text

# Names of profiles, several separated by commas; empty: what its archetype brings.
GOLEM_NEW_GOLEM_PROFILES = read_text("TOOL_PROFILE") or read_text("GOLEM_PROFILE")
# The wallet of a new golem: "create" a key on this server, "import" the keystore file below, or empty: none.
# One account serves one golem, so a file is taken once.
GOLEM_WALLET_SOURCE = read_text("GOLEM_WALLET_SOURCE")
GOLEM_WALLET_KEYSTORE_FILE = read_text("GOLEM_WALLET_KEYSTORE_FILE")
GOLEM_WALLET_PASSPHRASE = read_optional_secret("GOLEM_WALLET_PASSPHRASE")
