"""Counts what this process does, and adds it every two seconds to the counts of all processes, which the broker keeps.

So any web server tells the figures of the whole deployment, whichever machine its workers run on, and a process that
ends takes at most two seconds of its counts along. Where the broker is away, counts are kept until it is back.
"""

from __future__ import annotations

import json
import logging
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from typing import Final

import redis

from golem_project.metrics.measures import BOUNDS, CountedFigure
from tools_app.core import broker

logger = logging.getLogger(__name__)

KEY: Final = "golem:counts"
FLUSH_SECONDS: Final = 2.0
_MICRO: Final = 1_000_000
SUM: Final = "sum"
COUNT: Final = "count"
_OTHER: Final = "other"
_MOST_SERIES: Final = 5_000
"""Fields that one process keeps between two flushes; further ones are counted as `other`. Labels come from the code, so
this is met by a mistake alone.
"""

Field = tuple[str, tuple[str, ...], str]
"""The measure's name, the values of its labels, and which part of it: a class of times, their sum, or the count."""


class Tally:
    """The counts of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Field] = Counter()
        self._flusher: threading.Thread | None = None

    def count(self, measure: CountedFigure, *labels: str) -> None:
        """One more."""
        with self._lock:
            self._counts[self._name(measure, labels, COUNT)] += 1

    def time(self, measure: CountedFigure, seconds: float, *labels: str) -> None:
        """One more, that took so long."""
        at = bisect_left(BOUNDS, seconds)
        part = str(BOUNDS[at]) if at < len(BOUNDS) else "+Inf"
        with self._lock:
            self._counts[self._name(measure, labels, part)] += 1
            self._counts[self._name(measure, labels, SUM)] += max(0, round(seconds * _MICRO))

    def begin(self) -> None:
        """Hand counts on from here, in a thread of this process; a forked child begins for itself."""
        if self._flusher is None or not self._flusher.is_alive():
            self._flusher = threading.Thread(target=self._run, name="counts", daemon=True)
            self._flusher.start()

    def flush(self) -> None:
        """Add what was counted to the counts of all. Raises RedisError; then nothing is lost."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        if not taken:
            return
        pipe = broker.connect().pipeline(transaction=True)
        for field, amount in taken.items():
            pipe.hincrby(KEY, json.dumps(field), amount)
        try:
            pipe.execute()
        except redis.RedisError:
            with self._lock:
                self._counts += taken
            raise

    def _name(self, measure: CountedFigure, labels: tuple[str, ...], part: str) -> Field:
        field = (measure.name, labels, part)
        if len(self._counts) >= _MOST_SERIES and field not in self._counts:
            return (measure.name, (_OTHER,) * len(labels), part)
        return field

    def _run(self) -> None:
        pause = threading.Event()
        is_away = False
        while not pause.wait(FLUSH_SECONDS):
            try:
                self.flush()
                is_away = False
            except redis.RedisError as error:
                if not is_away:
                    logger.warning("counts are not handed on: %s", type(error).__name__)
                is_away = True


TALLY: Final = Tally()


def read_counts() -> Mapping[Field, int]:
    """What all processes counted. Raises RedisError."""
    found: dict[Field, int] = {}
    for text, amount in broker.connect().hgetall(KEY).items():
        name, labels, part = json.loads(text)
        found[(name, tuple(labels), part)] = int(amount)
    return found
