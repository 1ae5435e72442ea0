"""A web server whose answers take as many seconds as the address says, under the product's own last answers."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.test")
django.setup(set_prefix=False)

from golem_project.front.shutdown_responses import LastAnswers  # noqa: E402
from golem_project.runtime.checked_start import CheckedStart  # noqa: E402


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Wait in a thread, as the product's requests do."""
    await asyncio.to_thread(time.sleep, float(scope["path"].strip("/") or 0))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"answered"})


application = CheckedStart(LastAnswers(answer), check=lambda: None, on_start=lambda: None)
