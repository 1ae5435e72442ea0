"""Sets the memory of each kind of process, in MiB (`golem_project.runtime.memory_limit`)."""

from __future__ import annotations

from golem_project.settings.environment import read_integer

GOLEM_MOST_MEMORY_MIB = {
    "web": read_integer("GOLEM_WEB_MEMORY_MIB", 2_048),
    "worker": read_integer("GOLEM_WORKER_MEMORY_MIB", 2_048),
    # Of a worker that forks; each of its children.
    "child": read_integer("GOLEM_WORKER_CHILD_MEMORY_MIB", 1_024),
    "beat": read_integer("GOLEM_BEAT_MEMORY_MIB", 1_024),
}
CELERY_WORKER_MAX_MEMORY_PER_CHILD = GOLEM_MOST_MEMORY_MIB["child"] * 1_024  # KiB; looked at after each task
