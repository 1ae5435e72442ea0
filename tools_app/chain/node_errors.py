"""Defines what can go wrong with a node, and translates its words into these errors.

Execution uses the same table for what nodes say about transactions. Nodes word the same refusal differently, so a
row is a code, a piece of text, or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import clean_text, decode_revert
from tools_app.core.errors import GolemError, Recovery


class RpcUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The chain's node does not answer",
    cleared_by="a node of the chain answers again",
):
    """No configured node of the chain can be reached."""


class RpcTimeout(
    GolemError,
    status=504,
    recovery=Recovery.WAIT,
    title="The chain's node did not answer in time",
    cleared_by="a node of the chain answers in time",
):
    """The node took longer than the call may take. `data.maybe_sent` is true when the request had left."""


class RpcNonsense(
    GolemError,
    status=502,
    recovery=Recovery.WAIT,
    title="The chain's node answered something that makes no sense",
    cleared_by="a node of the chain answers as it should",
):
    """The node's answer is no JSON-RPC, has the wrong shape, or is larger than we read."""


class RpcWrongChain(RpcNonsense, recovery=Recovery.ASK_OWNER, title="The node serves another chain"):
    """The node serves another chain than it is configured for."""


class RpcLagging(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The chain's node is behind",
    cleared_by="a node reaches the newest block",
):
    """Every node of the chain is behind; reading from it would show the past."""


class RpcMethodRefused(
    GolemError, status=403, recovery=Recovery.GIVE_UP, title="This connection may not call that method"
):
    """A method outside the pool's allow-list; refused here, nothing was sent."""


class RpcMethodMissing(GolemError, status=503, recovery=Recovery.ASK_OWNER, title="The node lacks a method"):
    """The node does not offer a method we need."""


class RpcRateLimited(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The node asks us to slow down",
    cleared_by="the node's operator takes requests again",
):
    """The node's operator limits how often it may be asked."""


class RpcRefused(
    GolemError, code="RPC_ERROR", status=502, recovery=Recovery.CHECK_STATE, title="The node refused the request"
):
    """The node refused a request for a reason this table does not know."""


NODE_AWAY: Final = (RpcUnavailable, RpcTimeout, RpcLagging, RpcRateLimited)
"""What concerns everything on a chain, and not what was asked about."""


class BlockUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The node does not have that block",
    cleared_by="a node knows the block",
):
    """The node does not know the block: reorganised away, pruned, or not there yet."""


class CallReverted(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The contract reverted"):
    """A contract reverted. `data.revert_data` holds the raw bytes, `data.error_name` the error when it is known."""


class ContractOutputUnexpected(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="That address does not answer like the contract it should be",
):
    """A contract answered bytes of another shape, or nothing because no contract is there."""


class LogRangeTooWide(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The range of blocks is too wide"):
    """More blocks, or more logs, than one query may cover."""


class InsufficientFunds(
    GolemError, status=422, recovery=Recovery.CHECK_STATE, title="The account cannot pay the value and the fees"
):
    """The account cannot pay value and fees."""


class NonceTooLow(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="That nonce is used already"):
    """The nonce is used already."""


class NonceTooHigh(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="An earlier nonce is missing"):
    """An earlier nonce is missing."""


class AlreadyKnown(
    GolemError,
    code="TX_ALREADY_KNOWN",
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="The node has that transaction already",
):
    """The node has these very bytes already; look the hash up."""


class ReplacementUnderpriced(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The replacement does not raise the fees enough"
):
    """A replacement must raise both fees enough."""


class FeeTooLow(GolemError, status=422, recovery=Recovery.PREVIEW_AGAIN, title="The fee cap is too low"):
    """The fee cap is under what the node accepts."""


class GasLimitRefused(
    GolemError, status=422, recovery=Recovery.PREVIEW_AGAIN, title="The gas limit is too low or too high"
):
    """The gas limit is under the intrinsic cost or over the block's limit."""


class TransactionMalformed(
    GolemError, code="TX_MALFORMED", status=422, recovery=Recovery.GIVE_UP, title="The node cannot read the transaction"
):
    """The node cannot read the signed bytes, or they are for another chain."""


NODE_ERRORS: Final[tuple[tuple[int | None, str, type[GolemError]], ...]] = (
    # (code or None for any, lower-case piece of the message or "" for any, type); the first row that fits wins
    (3, "", CallReverted),
    (None, "already known", AlreadyKnown),
    (None, "already imported", AlreadyKnown),
    (None, "known transaction", AlreadyKnown),
    (None, "alreadyknown", AlreadyKnown),
    (None, "replacement transaction underpriced", ReplacementUnderpriced),
    (None, "replacement fee too low", ReplacementUnderpriced),
    (None, "replacementnotallowed", ReplacementUnderpriced),
    (None, "could not replace existing tx", ReplacementUnderpriced),
    (None, "nonce too low", NonceTooLow),
    (None, "oldnonce", NonceTooLow),
    (None, "nonce is too low", NonceTooLow),
    (None, "nonce too high", NonceTooHigh),
    (None, "nonce gap", NonceTooHigh),
    (-38014, "", InsufficientFunds),
    (None, "insufficient funds", InsufficientFunds),
    (None, "insufficient balance for transfer", InsufficientFunds),
    (None, "insufficient maxfeepergas", FeeTooLow),
    (None, "outofgas", GasLimitRefused),
    (None, "max fee per gas less than block base fee", FeeTooLow),
    (None, "transaction underpriced", FeeTooLow),
    (None, "gas price below", FeeTooLow),
    (None, "feetoolow", FeeTooLow),
    (None, "max priority fee per gas higher than max fee per gas", FeeTooLow),
    (-38013, "", GasLimitRefused),
    (-38015, "", GasLimitRefused),
    (None, "intrinsic gas too", GasLimitRefused),
    (None, "exceeds block gas limit", GasLimitRefused),
    (None, "transaction gas limit", GasLimitRefused),
    (None, "gas required exceeds allowance", GasLimitRefused),
    (None, "failed to decode", TransactionMalformed),
    (None, "invalid sender", TransactionMalformed),
    (None, "invalid chain id", TransactionMalformed),
    (None, "incompatible eip155", TransactionMalformed),
    (None, "transaction type not supported", TransactionMalformed),
    (None, "rlp:", TransactionMalformed),
    (None, "revert", CallReverted),
    (None, "vm execution error", CallReverted),
    (None, "invalid opcode", CallReverted),
    (None, "evm error", CallReverted),
    (None, "stack underflow", CallReverted),
    (-32001, "resource not found", BlockUnavailable),
    (None, "blockoutofrange", BlockUnavailable),
    (None, "header not found", BlockUnavailable),
    (None, "block not found", BlockUnavailable),
    (None, "unknown block", BlockUnavailable),
    (None, "missing trie node", BlockUnavailable),
    (None, "state is not available", BlockUnavailable),
    (None, "historical state", BlockUnavailable),
    (None, "not canonical", BlockUnavailable),
    (None, "query returned more than", LogRangeTooWide),
    (None, "range is too", LogRangeTooWide),
    (None, "block range", LogRangeTooWide),
    (None, "too many results", LogRangeTooWide),
    (None, "response size exceed", LogRangeTooWide),
    (-32601, "", RpcMethodMissing),
    (None, "method not found", RpcMethodMissing),
    (None, "does not exist/is not available", RpcMethodMissing),
    (None, "unsupported method", RpcMethodMissing),
    (429, "", RpcRateLimited),
    (-32005, "", RpcRateLimited),
    (None, "rate limit", RpcRateLimited),
    (None, "too many requests", RpcRateLimited),
    (None, "capacity", RpcRateLimited),
    (None, "timeout", RpcTimeout),
    (None, "timed out", RpcTimeout),
)


def classify_node_error(code: int | None, message: str, data: object = None) -> type[GolemError]:
    """The type of a node's error. Revert data makes it a revert whatever the words are."""
    lowered = message.lower()
    for row_code, text, kind in NODE_ERRORS:
        if (row_code is None or row_code == code) and text in lowered:
            return kind
    return CallReverted if revert_bytes(data) else RpcRefused


def build_node_error(code: int | None, message: str, data: object = None, *, errors: Sequence[str] = ()) -> GolemError:
    """The error to raise for a node's answer; `message` must be free of secrets, `errors` are error signatures."""
    kind = classify_node_error(code, message, data)
    if kind is not CallReverted:
        return kind(f"{kind.title}: {clean_text(message)}", node_code=code)
    return build_revert(revert_bytes(data), message=message, errors=errors)


def build_revert(data: bytes, *, message: str = "", errors: Sequence[str] = ()) -> CallReverted:
    """CallReverted with its decoded reason; falls back on the node's words when there are no bytes."""
    reason = decode_revert(data, errors)
    text = reason.text if data or not message else clean_text(message)
    return CallReverted(text, revert_reason=text, error_name=reason.name, revert_data="0x" + data.hex())


def revert_bytes(data: object) -> bytes:
    """Revert data however a node nests it: a hex string, `Reverted 0x…`, or an object with `data`; empty when none."""
    if isinstance(data, dict):
        return revert_bytes(data.get("data", data.get("result")))
    if not isinstance(data, str):
        return b""
    text = data.removeprefix("Reverted ").strip()
    if not text.startswith("0x"):
        return b""
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        return b""
