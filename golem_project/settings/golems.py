"""What a new golem starts with, and what this server lends to all of them. Decisions, "Profiles"."""

from __future__ import annotations

from golem_project.settings.environment import read_text

# Names of profiles, several separated by commas; empty: what its archetype brings.
GOLEM_NEW_GOLEM_PROFILES = read_text("TOOL_PROFILE") or read_text("GOLEM_PROFILE")
# Lends the uniswap_api requirement to every golem; empty: tools that need it are left out.
GOLEM_UNISWAP_API_KEY = read_text("GOLEM_UNISWAP_API_KEY")
