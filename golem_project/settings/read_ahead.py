"""Reads made before they are asked for."""

from __future__ import annotations

from golem_project.settings.environment import read_flag

GOLEM_SPECULATION_IS_ON = read_flag("GOLEM_SPECULATION_IS_ON", True)  # off: every read is made when it is asked for
GOLEM_SPECULATION_THRESHOLD_BPS = 7_000  # how often one read must follow another to be made ahead
GOLEM_SPECULATION_ENOUGH_RUNS = 20  # runs before a habit counts, and reads made ahead before their waste is judged
GOLEM_SPECULATION_MOST_WASTE_BPS = 5_000  # more than this unused, and the archetype's speculation is off
GOLEM_SPECULATION_SESSION_SECONDS = 10  # how long an answer read ahead lives outside of a tick; what follows together
GOLEM_SPECULATION_RELOAD_SECONDS = 60  # how often a process looks at the habits again
