"""A web server whose one request takes memory until the server is asked to end, and is answered all the same."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.test")
django.setup(set_prefix=False)

from golem_project.runtime.checked_start import CheckedStart  # noqa: E402
from golem_project.runtime.memory_limit import MIB, WEB, MemoryWatch, logger, read_used_bytes  # noqa: E402

asked_to_end = asyncio.Event()


class Listener(logging.Handler):
    """Hears that the watch asks for the end."""

    def emit(self, record: logging.LogRecord) -> None:
        if "ends between" in record.getMessage() and "may" not in record.getMessage():
            asked_to_end.set()


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Grow beyond the bound, wait for the end to be asked for, answer."""
    most_bytes = int(os.environ["GOLEM_WEB_MEMORY_MIB"]) * MIB
    logger.addHandler(Listener(logging.ERROR))
    held = []
    while read_used_bytes() < most_bytes + 32 * MIB:
        held.append(bytearray(MIB))
    while not asked_to_end.is_set():
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"answered"})


application = CheckedStart(answer, check=lambda: None, on_start=lambda: MemoryWatch(WEB).start())
