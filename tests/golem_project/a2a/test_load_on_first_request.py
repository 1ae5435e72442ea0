"""The A2A door is loaded by who first comes to it, once, and by no start."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

from golem_project.a2a.door import A2ADoor
from golem_project.a2a.load_on_first_request import LateDoor
from golem_project.asgi import event_stream
from golem_project.embedded.paths import CHECKOUT

KEYS = "/a2a/keys.json"


def test_what_processes_load_together_has_no_a2a_sdk_in_it() -> None:
    told = (
        "import golem_project.management.preload, sys; "
        "print(sorted({'a2a', 'google.protobuf', 'jsonrpc'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", told], cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=240
    )
    assert answer.stdout.strip() == "[]"


def test_who_comes_first_together_opens_one_door_and_everybody_is_served() -> None:
    served, opened = [], []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        served.append(scope["path"])

    class Counted(LateDoor):
        def _open(self) -> A2ADoor:
            opened.append(1)
            return super()._open()

    door = Counted(inner, events=event_stream)

    async def come(path: str) -> None:
        async def silent(*_: Any) -> Any:
            return {"type": "http.disconnect"}

        await door({"type": "http", "method": "GET", "path": path}, silent, silent)

    async def come_together() -> None:
        await come("/healthz")
        assert opened == []
        await asyncio.gather(*(come(KEYS) for _ in range(8)))

    asyncio.run(come_together())
    assert len(opened) == 1
    assert served == ["/healthz", *[KEYS] * 8]
