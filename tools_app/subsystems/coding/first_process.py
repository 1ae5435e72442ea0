"""The first process behind a command's fences: it is gone only when all it had around it is, so a run ends with it."""

from __future__ import annotations

import os
import re
import select
from contextlib import suppress
from typing import Final

_CHILD: Final = re.compile(rb'"child-pid": (\d{1,10})\D')
_PART: Final = 4_096
_MOST_MS: Final = 5_000


def find_first_process(told: int) -> int | None:
    """A descriptor of it, from what bwrap writes into the pipe `told`, which is closed; None where it told nothing."""
    text = b""
    try:
        # To the end of the object, not of the pipe: another process may have been forked with our end of it.
        while not text.rstrip().endswith(b"}") and _has_come(told):
            part = os.read(told, _PART)
            if not part:
                break
            text += part
    finally:
        os.close(told)
    # It tells nothing when it could not put the fences up; a process may have ended already.
    found = _CHILD.search(text)
    with suppress(OSError):
        return os.pidfd_open(int(found[1])) if found else None
    return None


def wait_until_gone(first: int | None) -> None:
    """Nothing of the command writes or runs any more, unless the kernel itself holds it; closes the descriptor."""
    if first is None:
        return
    try:
        _has_come(first)
    finally:
        os.close(first)


def _has_come(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(_MOST_MS))
