"""Turns a full disk or a database without room into errors that say so, noted for all processes.

The note is what readiness names. Whoever meets the failure writes it again, every few seconds where something sweeps,
so it is there as long as the failure is, and lapses by itself once there is room.
"""

from __future__ import annotations

import errno
import logging
import threading
from typing import Final

from tools_app.core import clock
from tools_app.core.errors import (
    DatabaseConnectionsUsedUp,
    DatabaseOutOfMemory,
    DatabaseReadOnly,
    DatabaseUnavailable,
    GolemError,
    StorageFull,
)

logger = logging.getLogger(__name__)

READ_ONLY: Final = "25006"
BY_STATE: Final[dict[str, type[GolemError]]] = {
    "53100": StorageFull,
    "53200": DatabaseOutOfMemory,
    "53300": DatabaseConnectionsUsedUp,
    READ_ONLY: DatabaseReadOnly,
}
_FULL_DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOTED_SECONDS: Final = 15
_PAUSE_MS: Final = 2_000
_KEY: Final = "exhausted:"
_noted_ms: dict[str, float] = {}


def find_state(error: BaseException) -> str:
    """The SQLSTATE behind an error of Django's; empty when there is none."""
    cause: BaseException | None = error
    while cause is not None:
        state = getattr(cause, "sqlstate", None)
        if state:
            return str(state)
        cause = cause.__cause__
    return ""


def name_database_failure(error: BaseException, told: str = "") -> GolemError:
    """What has run out, or that the database is away; `told` is what the caller is to know besides."""
    kind = BY_STATE.get(find_state(error), DatabaseUnavailable)
    return kind(f"{kind.title}; {told}" if told and kind is not DatabaseUnavailable else told)


def is_full_disk(error: BaseException) -> bool:
    """Whether a file could not be written for want of space; what is met is noted."""
    if not (isinstance(error, OSError) and error.errno in _FULL_DISK):
        return False
    note_exhausted(StorageFull.code)
    return True


def note_exhausted(code: str) -> None:
    """Let readiness name it. Returns at once: a thread tells the cache, so that no transaction waits for it."""
    now_ms = clock.monotonic_ms()
    if now_ms - _noted_ms.get(code, -_PAUSE_MS) < _PAUSE_MS:
        return
    _noted_ms[code] = now_ms
    logger.error("%s: what needs it is refused until there is room", code)
    threading.Thread(target=_write, args=(code,), name="note-exhausted", daemon=True).start()


def list_exhausted() -> list[str]:
    """The codes of what ran out within the last seconds, in any process; empty where the cache does not tell."""
    from django.core.cache import cache

    try:
        codes = sorted({kind.code for kind in BY_STATE.values()})
        found = cache.get_many([f"{_KEY}{code}" for code in codes])
    except Exception:  # noqa: BLE001  (a cache that is away is told by a check of its own)
        return []
    return [code for code in codes if f"{_KEY}{code}" in found]


def _write(code: str) -> None:
    from django.core.cache import cache

    try:
        cache.set(f"{_KEY}{code}", 1, timeout=_NOTED_SECONDS)
    except Exception as error:  # noqa: BLE001  (the log has it already)
        logger.warning("%s is not noted: %s", code, type(error).__name__)
