"""Limits a process's memory: warns from four fifths on, and ends it between two jobs beyond the limit.

The end is the one that the process has for `kill`: a worker takes nothing more and finishes what it has in hand, the
web server answers who has asked. Whoever keeps it running starts it anew. The children of a forking worker are ended by
Celery after the task that took them beyond their bound.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from dataclasses import dataclass
from typing import Final

import psutil
from django.conf import settings
from django.core.cache import cache

logger = logging.getLogger(__name__)

MIB: Final = 1024**2
TOLD_PERCENT: Final = 80
_LOOK_SECONDS: Final = 2.0
_KEPT_SECONDS: Final = 15
# Longer than any task may take. What hangs then is left as a killed process leaves it, and taken over as such.
LAST_SECONDS: Final = 150.0
_KEY: Final = "memory-told"
WEB: Final = "web"
BEAT: Final = "beat"
WORKER: Final = "worker"
CHILD: Final = "child"


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A process near or beyond its bound."""

    name: str
    used_mib: int
    most_mib: int

    @property
    def words(self) -> str:
        """For a person."""
        return f"{self.name} has {self.used_mib} of {self.most_mib} MiB"


class MemoryWatch:
    """Looks at this process every two seconds; `kind` says which bound it has, `name` what it is called."""

    def __init__(self, kind: str, name: str = "") -> None:
        self.name = name or kind
        self._most_bytes = settings.GOLEM_MOST_MEMORY_MIB[kind] * MIB
        # A child is ended by Celery, between two tasks.
        self._is_ended = kind != CHILD
        self._is_told = False

    def start(self) -> None:
        """Begin, and return."""
        used = read_used_bytes()
        if used * 100 >= self._most_bytes * TOLD_PERCENT:
            # It would be ended at once, and again after each start.
            logger.error(
                "%s has %d MiB at its start, and may have %d: its bound is twice what it has now. "
                "Fix: raise its GOLEM_*_MEMORY_MIB",
                self.name,
                used // MIB,
                self._most_bytes // MIB,
            )
            self._most_bytes = 2 * used
        threading.Thread(target=self._run, name="memory-watch", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while not self._look():
            pause.wait(_LOOK_SECONDS)
        logger.error("%s ends between two jobs for its memory", self.name)
        os.kill(os.getpid(), signal.SIGTERM)
        pause.wait(LAST_SECONDS)
        logger.error("%s did not end in %d s and is ended now", self.name, LAST_SECONDS)
        os._exit(1)

    def _look(self) -> bool:
        """Whether it has to end."""
        told = NearLimit(self.name, read_used_bytes() // MIB, self._most_bytes // MIB)
        is_near = told.used_mib * 100 >= told.most_mib * TOLD_PERCENT
        if is_near:
            if not self._is_told:
                logger.warning("memory: %s; beyond it, it ends between two jobs", told.words)
            _note(told)
        self._is_told = is_near
        return self._is_ended and told.used_mib > told.most_mib


def read_used_bytes() -> int:
    """What this process has in memory, with what it shares with the one that forked it."""
    return int(psutil.Process().memory_info().rss)


def list_told() -> list[str]:
    """Which processes were near or beyond their bound just now, in words; none where the cache is away."""
    try:
        names = list(cache.get(_KEY) or ())
        found = cache.get_many([f"{_KEY}:{name}" for name in names])
    except Exception:  # noqa: BLE001  (a cache that is away is told by a check of its own)
        return []
    return sorted(str(words) for words in found.values())


def _note(told: NearLimit) -> None:
    name = f"{socket.gethostname()}-{os.getpid()}"
    try:
        cache.set(f"{_KEY}:{name}", told.words, timeout=_KEPT_SECONDS)
        # Two at once may forget one of them until its next look.
        known = [each for each in (cache.get(_KEY) or ()) if cache.has_key(f"{_KEY}:{each}")]
        cache.set(_KEY, sorted({*known, name}), timeout=_KEPT_SECONDS)
    except Exception as error:  # noqa: BLE001  (the log has it already)
        logger.warning("the memory of %s is not noted: %s", told.name, type(error).__name__)
