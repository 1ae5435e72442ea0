"""What is measured, and how logs are written."""

from __future__ import annotations

from golem_project.settings.environment import read_integer, read_optional_secret, read_url

# Who reads /metrics has this token; where none is set there is no such page.
GOLEM_METRICS_TOKEN = read_optional_secret("GOLEM_METRICS_TOKEN")

# A collector that speaks OTLP over HTTP, such as http://collector:4318/v1/traces; without one nothing is traced.
GOLEM_TRACES_URL = read_url("GOLEM_TRACES_URL", "")
# What it wants as its header Authorization, where it wants any.
GOLEM_TRACES_AUTHORIZATION = read_optional_secret("GOLEM_TRACES_AUTHORIZATION")
# Of a hundred traces, how many are told.
GOLEM_TRACES_PERCENT = read_integer("GOLEM_TRACES_PERCENT", 100)
