"""A node in front of the local one that answers truly but for what a test changes in a receipt."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.test import override_settings

from golem_project import wiring
from tests.evm.world import CHAIN_ID, World
from tests.stand_in import serve_stand_in

Lie = Callable[[dict[str, Any]], dict[str, Any]]


@contextmanager
def node_that_lies(world: World, lie: Lie, *, times: int) -> Iterator[None]:
    """The receipt of each transaction goes through `lie` for the first `times` that it is found."""
    told: Counter[str] = Counter()

    def answer(method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        request = urllib.request.Request(world.rpc_url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as reply:
            answers = json.load(reply)
        asked = json.loads(body)
        pairs = [(asked, answers)] if isinstance(asked, dict) else list(zip(asked, answers, strict=True))
        for question, said in pairs:
            if question["method"] == "eth_getTransactionReceipt" and said.get("result"):
                told[said["result"]["transactionHash"]] += 1
                if told[said["result"]["transactionHash"]] <= times:
                    said["result"] = lie(said["result"])
        return 200, answers

    with serve_stand_in(answer) as url, override_settings(GOLEM_RPC_URLS={CHAIN_ID: (url,)}):
        wiring.configure_networks({CHAIN_ID: (url,)})
        try:
            yield
        finally:
            wiring.configure_networks({CHAIN_ID: (world.rpc_url,)})
