"""The client of ZeroDev's API: checked addresses only, figures within bounds, refusals by their meaning, no secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from golem_project import wiring
from permits_app.custody.signers.bundler import explain_refusal
from permits_app.errors import SignerMismatch, SignerUnavailable
from tests.evm.world import CHAIN_ID, World
from tests.permits_app.execution.signers.bundler_stand_in import PROJECT_ID, BundlerStandIn, Refused, serve_bundler
from tests.permits_app.execution.signers.smart_accounts import SmartAccounts
from tools_app.chain.node_errors import (
    AlreadyKnown,
    FeeTooLow,
    GasLimitRefused,
    InsufficientFunds,
    NonceTooLow,
    ReplacementUnderpriced,
    RpcRefused,
    RpcTimeout,
    TransactionMalformed,
)
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret
from tools_app.standards.user_operation import UserOperation

OPERATION = UserOperation("0x" + "11" * 20, 0, b"\x01", 1, 2, 3, 10**10, 10**9, signature=b"\x01" * 65)
HASH = OPERATION.hash(chain_id=CHAIN_ID)


@pytest.fixture
def bundler(world: World) -> Iterator[BundlerStandIn]:
    """A stand-in that is asked and carries nothing out."""
    nobody: Any = None
    with serve_bundler(SmartAccounts(world, nobody, "0x" + "22" * 20, nobody)) as stand_in:
        yield stand_in


def send(bundler: BundlerStandIn, **changes: Any) -> None:
    bundler.client(**changes).send(CHAIN_ID, OPERATION, op_hash=HASH)


@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        (-32602, "UserOperation already known", AlreadyKnown),
        (-32602, "replacement user operation underpriced", ReplacementUnderpriced),
        (-32500, "UserOperation reverted during simulation with reason: AA25 invalid account nonce", NonceTooLow),
        (-32500, "AA21 didn't pay prefund", InsufficientFunds),
        (-32501, "AA31 paymaster deposit too low", InsufficientFunds),
        (-32508, "paymaster balance", InsufficientFunds),
        (-32500, "AA24 signature error", TransactionMalformed),
        (-32507, "signature", TransactionMalformed),
        (-32602, "maxFeePerGas must be at least 7", FeeTooLow),
        (-32602, "preVerificationGas is not enough", GasLimitRefused),
        (-32602, "missing field", TransactionMalformed),
        (-32500, "AA23 reverted", RpcRefused),
        (None, "whatever", RpcRefused),
    ],
)
def test_a_refusal_is_told_by_what_it_means(code: int | None, text: str, kind: type[GolemError]) -> None:
    told = explain_refusal(code, f"{text}; visit https://stranger.example")
    assert type(told) is kind and "stranger" not in told.detail
    if "AA" in text:
        assert text[text.index("AA") :][:4] in told.detail


def test_what_the_bundler_has_already_is_sent(bundler: BundlerStandIn) -> None:
    bundler.fails["eth_sendUserOperation"] = Refused(-32602, "already known")
    send(bundler)
    bundler.fails.clear()
    bundler.pool[HASH] = OPERATION
    send(bundler)
    assert [method for method, _ in bundler.seen] == ["eth_sendUserOperation"] * 2


def test_a_bundler_that_names_another_operation_is_refused(bundler: BundlerStandIn) -> None:
    for said in ("0x" + "ab" * 32, None, 7, {"hash": HASH}):
        bundler.answers["eth_sendUserOperation"] = said
        with pytest.raises(SignerMismatch, match="another operation"):
            send(bundler)


@pytest.mark.parametrize(
    ("method", "answers", "ask"),
    [
        ("eth_chainId", ["0x1", "x", None, 5], lambda c: c.check_serves(CHAIN_ID)),
        ("eth_supportedEntryPoints", [[], "0x", None], lambda c: c.check_serves(CHAIN_ID)),
        (
            "zd_getUserOperationGasPrice",
            [None, {}, {"standard": {}}, {"standard": {"maxFeePerGas": "-0x1", "maxPriorityFeePerGas": "0x1"}}],
            lambda c: c.read_fees(CHAIN_ID),
        ),
        (
            "eth_estimateUserOperationGas",
            [None, [], {}, {"verificationGasLimit": hex(2**64), "preVerificationGas": "0x1"}],
            lambda c: c.estimate(CHAIN_ID, OPERATION),
        ),
        (
            "pm_getPaymasterData",
            [None, {}, {"paymaster": "0x11"}, {"paymaster": "0x" + "22" * 20, "paymasterData": "zz"}],
            lambda c: c.sponsor(CHAIN_ID, OPERATION, is_stub=False),
        ),
    ],
)
def test_answers_of_another_shape_are_refused(
    bundler: BundlerStandIn, method: str, answers: list[Any], ask: Any
) -> None:
    for said in answers:
        bundler.answers[method] = said
        with pytest.raises(SignerMismatch):
            ask(bundler.client())


def test_a_silent_bundler_leaves_a_sent_operation_open_and_any_other_request_unanswered(
    bundler: BundlerStandIn,
) -> None:
    bundler.silent = {"eth_sendUserOperation", "eth_chainId"}
    bundler.pool[HASH] = OPERATION
    with pytest.raises(RpcTimeout) as open_end:
        send(bundler)
    assert open_end.value.data["maybe_sent"] is True
    with pytest.raises(SignerUnavailable):
        bundler.client().check_serves(CHAIN_ID)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_project_is_told_without_the_strangers_words(bundler: BundlerStandIn, status: int) -> None:
    bundler.status = status
    with pytest.raises(SignerUnavailable, match="project id"):
        send(bundler)


def test_private_addresses_are_not_asked_unless_the_operator_says_so(bundler: BundlerStandIn) -> None:
    for url in (bundler.url, "https://127.0.0.1:9", "ftp://example.com", "https://user:word@example.com"):
        with pytest.raises(SignerUnavailable):
            send(bundler, url=url, allows_private=False)
    assert bundler.seen == []


def test_a_project_id_leads_nowhere_else(bundler: BundlerStandIn) -> None:
    for odd in ("", "a/../b", "a?x=1", "a#b", "a b", "ä"):
        with pytest.raises(SignerUnavailable) as refused:
            send(bundler, project_id=Secret(odd))
        assert not odd or odd not in str(refused.value)
    assert bundler.seen == []


def test_no_text_of_the_client_or_of_its_errors_shows_the_project(bundler: BundlerStandIn) -> None:
    client = bundler.client()
    texts = [repr(client), str(client)]
    bundler.status = 404
    for changes in ({}, {"url": "http://127.0.0.1:9"}, {"allows_private": False}):
        with pytest.raises(GolemError) as refused:
            send(bundler, **changes)
        texts += [str(refused.value), json.dumps(refused.value.as_problem(), default=str)]
    assert not [text for text in texts if PROJECT_ID in text]


def test_zerodev_is_wired_from_settings(settings: Any) -> None:
    assert wiring.read_zerodev() is None
    settings.GOLEM_ZERODEV_PROJECT_ID = "a-project"
    client = wiring.read_zerodev()
    assert client is not None and client.url == "https://rpc.zerodev.app/api/v3" and not client.allows_private
    for odd in ("0x12", "0x" + "ab" * 20, "paymaster"):
        settings.GOLEM_ZERODEV_PAYMASTER = odd
        with pytest.raises(ImproperlyConfigured, match="EIP-55"):
            wiring.read_zerodev()
