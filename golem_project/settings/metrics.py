"""What is measured, and how logs are written."""

from __future__ import annotations

from golem_project.settings.environment import read_optional_secret

# Who reads /metrics has this token; where none is set there is no such page.
GOLEM_METRICS_TOKEN = read_optional_secret("GOLEM_METRICS_TOKEN")
