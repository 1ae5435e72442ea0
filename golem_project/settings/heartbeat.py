"""The pulse: how often a golem ticks, what a tick may take, when it thinks."""

from __future__ import annotations

from golem_project.settings.environment import read_integer

# Golems claimed in one look, of which there is one a second; what is left waits for the next.
GOLEM_HEARTBEAT_CLAIM_BATCH = read_integer("GOLEM_HEARTBEAT_CLAIM_BATCH", 200)
GOLEM_HEARTBEAT_LEASE_SECONDS = 90  # a tick that runs longer is taken for dead; above the task's own time limit
GOLEM_HEARTBEAT_JITTER_BPS = 500  # intervals vary by 5 % either way, so that golems started together drift apart
GOLEM_HEARTBEAT_TICK_SECONDS = 45  # the most one tick may take, and never more than its theta
GOLEM_HEARTBEAT_PROBE_MS = 2_000  # OBSERVE reads no longer than this
GOLEM_HEARTBEAT_VERIFY_SECONDS = 10  # how long VERIFY waits for an outcome; later ticks look again
GOLEM_HEARTBEAT_MOST_ACTIONS = 4  # actions one tick may take one after the other
GOLEM_HEARTBEAT_FULL_DIVERGENCE_BPS = 500  # a price this far from the expected one counts as divergence 1
GOLEM_HEARTBEAT_KEEP_QUIET_DAYS = read_integer("GOLEM_HEARTBEAT_KEEP_QUIET_DAYS", 7)  # then quiet ticks are deleted
GOLEM_HEARTBEAT_CONSOLIDATE_TICKS = 50  # memory-consolidator runs every 50 ticks of a golem
GOLEM_HEARTBEAT_ALERT_WINDOW_SECONDS = 300  # the monitor's alerts are batched over 5 minutes
