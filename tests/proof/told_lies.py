"""The lies a node can tell: about one method, or about the chain whatever is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.proof.lying_node import Answers, Ask, Lie, Request, change_answers

HANG_SECONDS: Final = 1.3
"""Longer than the clients of a table of lies wait."""
_BEHIND: Final = 3

_OF_MONEY: Final = (
    "eth_blockNumber",
    "eth_call",
    "eth_chainId",
    "eth_getBalance",
    "eth_getBlockByNumber",
    "eth_getCode",
    "eth_getTransactionByHash",
    "eth_getTransactionCount",
    "eth_getTransactionReceipt",
    "eth_sendRawTransaction",
)
_OF_A_DECISION: Final = (
    "eth_call",
    "eth_chainId",
    "eth_createAccessList",
    "eth_feeHistory",
    "eth_getBalance",
    "eth_getBlockByHash",
    "eth_getBlockByNumber",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_getTransactionCount",
    "eth_maxPriorityFeePerGas",
    "eth_simulateV1",
)
ASKED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "preview": _OF_A_DECISION,
    # It simulates again where the head is another one.
    "commit": (*_OF_MONEY, "eth_feeHistory", "eth_maxPriorityFeePerGas", "eth_simulateV1"),
    "sent": (*_OF_MONEY, "eth_feeHistory", "eth_maxPriorityFeePerGas"),
    "follower": _OF_MONEY,
    "reconciler": (*_OF_MONEY, "eth_feeHistory", "eth_maxPriorityFeePerGas"),
    "heartbeat": _OF_A_DECISION,
    "mirror": ("eth_blockNumber", "eth_call", "eth_chainId", "eth_getBlockByNumber", "eth_getCode", "eth_getLogs"),
}
"""The methods that each role asks; a cell that meets another one says so."""


def _fail(told: Any) -> Callable[[str], Lie]:
    def about(method: str) -> Lie:
        def lie(requests: list[Request], ask: Ask) -> Any:
            return told if any(request["method"] == method for request in requests) else ask(requests)

        return lie

    return about


def _hang(method: str) -> Lie:
    def lie(requests: list[Request], ask: Ask) -> Any:
        if any(request["method"] == method for request in requests):
            time.sleep(HANG_SECONDS)
            return None
        return ask(requests)

    return lie


def _spoil(change: Callable[[Answers], Answers]) -> Callable[[str], Lie]:
    def about(method: str) -> Lie:
        def lie(requests: list[Request], ask: Ask) -> Any:
            answers = ask(requests)
            return change(answers) if any(request["method"] == method for request in requests) else answers

        return lie

    return about


def _shift_nonce(by: int) -> Lie:
    return change_answers("eth_getTransactionCount", lambda _, told: hex(max(0, int(told, 16) + by)))


def _other_receipt(_: Request, told: Any) -> Any:
    return told and {**told, "transactionHash": "0x" + "cd" * 32}


def _reverted(_: Request, told: Any) -> Any:
    return told and {**told, "status": "0x0"}


def _without_logs(_: Request, told: Any) -> Any:
    return told and {**told, "logs": []}


def _no_logs() -> Lie:
    """No event in any receipt, and none found."""
    in_receipts = change_answers("eth_getTransactionReceipt", _without_logs)
    found = change_answers("eth_getLogs", lambda _, __: [])
    return lambda requests, ask: in_receipts(requests, lambda asked: found(asked, ask))


def _stale(every: int) -> Lie:
    """The head of a while ago, in every answer or in every second one."""
    asked = [0]

    def lie(requests: list[Request], ask: Ask) -> Any:
        asked[0] += 1
        if asked[0] % every:
            return ask(requests)
        head = int(ask([{"jsonrpc": "2.0", "id": 0, "method": "eth_blockNumber", "params": []}])[0]["result"], 16)
        old = hex(max(0, head - _BEHIND))
        changed = [
            {**request, "params": [old if each == "latest" else each for each in request["params"]]}
            if request["method"] in ("eth_getBlockByNumber", "eth_getTransactionCount")
            else request
            for request in requests
        ]
        answers = ask(changed)
        for request, answer in zip(requests, answers, strict=True):
            if request["method"] == "eth_blockNumber":
                answer["result"] = old
        return answers

    return lie


ABOUT_A_METHOD: Final[Mapping[str, Callable[[str], Lie]]] = {
    "429": _fail(429),
    "500": _fail(500),
    "timeout": _hang,
    "reset": _fail(None),
    "empty": _fail(b""),
    "wrong id": _spoil(lambda answers: [{**answer, "id": answer["id"] + 1_000} for answer in answers]),
    "batch reordered": _spoil(lambda answers: answers[::-1]),
    "batch cut": _spoil(lambda answers: answers[:-1]),
}
OF_THE_CHAIN: Final[Mapping[str, Callable[[], Lie]]] = {
    "wrong chain": lambda: change_answers("eth_chainId", lambda _, __: "0x1"),
    "stale head": lambda: _stale(1),
    "head that goes back": lambda: _stale(2),
    "nonce too high": lambda: _shift_nonce(5),
    "nonce too low": lambda: _shift_nonce(-1),
    "receipt dropped": lambda: change_answers("eth_getTransactionReceipt", lambda _, __: None),
    "receipt lying": lambda: change_answers("eth_getTransactionReceipt", _reverted),
    "receipt of another transaction": lambda: change_answers("eth_getTransactionReceipt", _other_receipt),
    "logs missing": _no_logs,
}
