"""Bundlers, paymasters and keepers of keys that answer with any JSON at any place: refused in words, never a crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from permits_app.custody.signers.bundler import BundlerClient
from permits_app.custody.signers.privy import PrivyClient, PrivySigner
from tests.evm.world import CHAIN_ID
from tests.permits_app.execution.signers.test_bundler import HASH, OPERATION
from tests.permits_app.execution.signers.test_privy import ELSEWHERE, PLAIN
from tests.stand_in import serve_stand_in
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1.5, 10**40, "", "0x", "0x0", "x", "\ud800", "\u202e", "٣", [], {}, [[]], [None]),
    *({"a": 1}, ["0x1"], {"code": []}, {"code": True, "message": []}, {"message": {"a": "AA21"}}, "0x" + "f" * 5_000),
)
RAW: Final[tuple[bytes, ...]] = (
    *(b"", b"null", b"[]", b'""', b"{", b"\xff\xfe", b"[" * 10_000, b'{"a":' * 5_000, b"NaN", b'{"result":1e999}'),
    *(b'{"result":' + b"9" * 5_000 + b"}", b'{"error":{"code":' + b"9" * 5_000 + b"}}", b'{"result":1,"result":2}'),
)
BUNDLER: Final[dict[str, tuple[Callable[[BundlerClient], Any], Any]]] = {
    "serves": (lambda c: c.check_serves(CHAIN_ID), hex(CHAIN_ID)),
    "fees": (lambda c: c.read_fees(CHAIN_ID), {"standard": {"maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x1"}}),
    "estimate": (
        lambda c: c.estimate(CHAIN_ID, OPERATION),
        {"verificationGasLimit": "0x1", "preVerificationGas": "0x1", "paymasterVerificationGasLimit": "0x1"},
    ),
    "sponsor": (
        lambda c: c.sponsor(CHAIN_ID, OPERATION, is_stub=False),
        {"paymaster": ELSEWHERE, "paymasterData": "0x01", "paymasterVerificationGasLimit": "0x1"},
    ),
    "send": (lambda c: c.send(CHAIN_ID, OPERATION, op_hash=HASH), HASH),
}
PRIVY: Final[dict[str, tuple[Callable[[PrivyClient], Any], Any]]] = {
    "address": (
        lambda c: c.read_address("w4ll3t"),
        {"id": "w4ll3t", "chain_type": "ethereum", "address": ELSEWHERE},
    ),
    "transaction": (
        lambda c: PrivySigner(c, ELSEWHERE, "w4ll3t").sign(PLAIN),
        {"method": "eth_signTransaction", "data": {"encoding": "rlp", "signed_transaction": "0x02"}},
    ),
    "message": (
        lambda c: PrivySigner(c, ELSEWHERE, "w4ll3t").sign_message(b"\x01" * 32, chain_id=CHAIN_ID),
        {"method": "personal_sign", "data": {"encoding": "hex", "signature": "0x" + "11" * 65}},
    ),
}


def list_twisted(document: Any) -> Iterator[Any]:
    """The document with each of the values in its own place and in that of each of its members."""
    yield from VALUES
    if isinstance(document, dict):
        for key, value in document.items():
            yield {other: each for other, each in document.items() if other != key}
            yield from ({**document, key: twisted} for twisted in list_twisted(value))


class Liar:
    """Answers each request with what it was last told to."""

    def __init__(self) -> None:
        self.raw, self.url = b"{}", ""

    def answer(self, *_: Any) -> tuple[int, bytes]:
        return 200, self.raw


@pytest.fixture
def liar() -> Iterator[Liar]:
    made = Liar()
    with serve_stand_in(made.answer) as made.url:
        yield made


def ask_and_list_crashes(liar: Liar, ask: Callable[[], Any], answers: Iterator[bytes]) -> list[str]:
    crashed = []
    for liar.raw in answers:
        try:
            ask()
        except GolemError:
            continue
        except Exception as error:
            crashed.append(f"{type(error).__name__} at {liar.raw[:80]!r}")
    return crashed


def write(answers: Iterator[Any]) -> Iterator[bytes]:
    for each in answers:
        yield json.dumps(each).encode()


@pytest.mark.parametrize("what", BUNDLER)
def test_whatever_a_bundler_or_paymaster_answers_is_taken_or_refused_in_words(liar: Liar, what: str) -> None:
    ask, right = BUNDLER[what]
    client = BundlerClient(Secret("project"), url=liar.url, allows_private=True)

    def answers() -> Iterator[bytes]:
        yield from RAW
        yield from write({"jsonrpc": "2.0", "id": 1, "result": each} for each in list_twisted(right))
        yield from write({"jsonrpc": "2.0", "id": 1, "error": each} for each in VALUES)
        yield from write({"error": {"code": each, "message": each}} for each in VALUES)

    assert ask_and_list_crashes(liar, lambda: ask(client), answers()) == []


@pytest.mark.parametrize("what", PRIVY)
def test_whatever_a_keeper_of_keys_answers_is_taken_or_refused_in_words(liar: Liar, what: str) -> None:
    ask, right = PRIVY[what]
    client = PrivyClient("app", Secret("secret"), url=liar.url, allows_private=True)

    def answers() -> Iterator[bytes]:
        yield from RAW
        yield from write(list_twisted(right))

    assert ask_and_list_crashes(liar, lambda: ask(client), answers()) == []
