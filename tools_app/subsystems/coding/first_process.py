"""The first process behind a command's fences: it is gone only when all it had around it is, so a run ends with it."""

from __future__ import annotations

import json
import os
import select
from contextlib import suppress
from typing import Final

_MOST_BYTES: Final = 4_096
_MOST_MS: Final = 5_000


def find_first_process(told: int) -> int | None:
    """A descriptor of it, from what bwrap writes into the pipe `told`, which is closed; None where it told nothing."""
    with os.fdopen(told, "rb") as pipe:
        text = pipe.read(_MOST_BYTES)
    # What it tells is cut off, or missing, when it could not put the fences up; a process may have ended already.
    with suppress(ValueError, KeyError, OSError):
        return os.pidfd_open(int(json.loads(text)["child-pid"]))
    return None


def wait_until_gone(first: int | None) -> None:
    """Nothing of the command writes or runs any more, unless the kernel itself holds it; closes the descriptor."""
    if first is None:
        return
    try:
        poll = select.poll()
        poll.register(first, select.POLLIN)
        poll.poll(_MOST_MS)
    finally:
        os.close(first)
