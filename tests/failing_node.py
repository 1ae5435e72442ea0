"""The local chain's node behind one that may fail, hang, or keep receipts to itself, as a test wants it."""

from __future__ import annotations

import json
import os
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from eth_account import Account

from golem_project import wiring
from tests.evm.world import CHAIN_ID
from tests.stand_in import serve_stand_in

# None: the real answer. Else an HTTP status and a document, as for a stand-in.
Rule = Callable[[list[str]], tuple[int, Any] | None]


class FailingNode:
    """What the product asks; `rule` decides by the methods of a request, and `hides` keeps an account's receipts."""

    def __init__(self) -> None:
        self.rule: Rule = lambda methods: None
        self.hides: set[str] = set()
        self.asked: list[list[str]] = []
        self.hangs = threading.Event()
        self._resume = threading.Event()
        self._real = os.environ["GOLEM_RPC_URL_31337"]
        self._hidden: set[str] = set()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """A stand-in's answer."""
        asked = json.loads(body)
        calls = asked if isinstance(asked, list) else [asked]
        methods = [call["method"] for call in calls]
        self.asked.append(methods)
        if self.hangs.is_set():
            self._resume.wait(30)
        ruled = self.rule(methods)
        if ruled is not None:
            return ruled
        request = urllib.request.Request(self._real, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            told = json.loads(reply.read())
        answers = {each["id"]: each for each in (told if isinstance(told, list) else [told])}
        for call in calls:
            self._keep_back(call, answers[call["id"]])
        return 200, told

    def hang(self) -> None:
        """Answer nothing until `go_on`."""
        self._resume.clear()
        self.hangs.set()

    def go_on(self) -> None:
        """Answer again."""
        self.hangs.clear()
        self._resume.set()

    def count(self, method: str) -> int:
        """How many requests asked for `method`, batches once."""
        return sum(method in methods for methods in self.asked)

    def _keep_back(self, call: dict[str, Any], answer: dict[str, Any]) -> None:
        if call["method"] == "eth_sendRawTransaction" and "result" in answer:
            if Account.recover_transaction(call["params"][0]) in self.hides:
                self._hidden.add(answer["result"])
        if call["method"] == "eth_getTransactionReceipt" and call["params"][0] in self._hidden and self.hides:
            answer["result"] = None


@contextmanager
def node_that_may_fail() -> Iterator[FailingNode]:
    """The product reaches its chain through it alone."""
    node = FailingNode()
    with serve_stand_in(node.answer) as url:
        wiring.configure_networks({CHAIN_ID: (url,)})
        try:
            yield node
        finally:
            node.go_on()
            wiring.configure_networks({CHAIN_ID: (node._real,)})
