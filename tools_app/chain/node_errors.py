"""Defines what can go wrong with a node, and translates its words into these errors.

Execution uses the same table for what nodes say about transactions. Nodes word the same refusal differently, so a
row is a code, a piece of text, or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tools_app.chain.abi import clean_text, decode_revert
from tools_app.core.errors import GolemError, Recovery


class RpcUnavailable(GolemError):
    """No configured node of the chain can be reached."""

    code = "RPC_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "a node of the chain answers again"
    title = "The chain's node does not answer"


class RpcTimeout(GolemError):
    """The node took longer than the call may take. `data.maybe_sent` is true when the request had left."""

    code = "RPC_TIMEOUT"
    http_status = 504
    recovery = Recovery.WAIT
    cleared_by = "a node of the chain answers in time"
    title = "The chain's node did not answer in time"


class RpcNonsense(GolemError):
    """The node's answer is no JSON-RPC, has the wrong shape, or is larger than we read."""

    code = "RPC_NONSENSE"
    http_status = 502
    recovery = Recovery.WAIT
    cleared_by = "a node of the chain answers as it should"
    title = "The chain's node answered something that makes no sense"


class RpcWrongChain(RpcNonsense):
    """The node serves another chain than it is configured for."""

    code = "RPC_WRONG_CHAIN"
    recovery = Recovery.ASK_OWNER
    title = "The node serves another chain"


class RpcLagging(GolemError):
    """Every node of the chain is behind; reading from it would show the past."""

    code = "RPC_LAGGING"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "a node reaches the newest block"
    title = "The chain's node is behind"


class RpcMethodRefused(GolemError):
    """A method outside the pool's allow-list; refused here, nothing was sent."""

    code = "RPC_METHOD_REFUSED"
    http_status = 403
    recovery = Recovery.GIVE_UP
    title = "This connection may not call that method"


class RpcMethodMissing(GolemError):
    """The node does not offer a method we need."""

    code = "RPC_METHOD_MISSING"
    http_status = 503
    recovery = Recovery.ASK_OWNER
    title = "The node lacks a method"


class RpcRateLimited(GolemError):
    """The node's operator limits how often it may be asked."""

    code = "RPC_RATE_LIMITED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the node's operator takes requests again"
    title = "The node asks us to slow down"


class RpcRefused(GolemError):
    """The node refused a request for a reason this table does not know."""

    code = "RPC_ERROR"
    http_status = 502
    recovery = Recovery.CHECK_STATE
    title = "The node refused the request"


NODE_AWAY: Final = (RpcUnavailable, RpcTimeout, RpcLagging, RpcRateLimited)
"""What concerns everything on a chain, and not what was asked about."""


class BlockUnavailable(GolemError):
    """The node does not know the block: reorganised away, pruned, or not there yet."""

    code = "BLOCK_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "a node knows the block"
    title = "The node does not have that block"


class CallReverted(GolemError):
    """A contract reverted. `data.revert_data` holds the raw bytes, `data.error_name` the error when it is known."""

    code = "CALL_REVERTED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The contract reverted"


class ContractOutputUnexpected(GolemError):
    """A contract answered bytes of another shape, or nothing because no contract is there."""

    code = "CONTRACT_OUTPUT_UNEXPECTED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "That address does not answer like the contract it should be"


class LogRangeTooWide(GolemError):
    """More blocks, or more logs, than one query may cover."""

    code = "LOG_RANGE_TOO_WIDE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The range of blocks is too wide"


class InsufficientFunds(GolemError):
    """The account cannot pay value and fees."""

    code = "INSUFFICIENT_FUNDS"
    http_status = 422
    recovery = Recovery.CHECK_STATE
    title = "The account cannot pay the value and the fees"


class NonceTooLow(GolemError):
    """The nonce is used already."""

    code = "NONCE_TOO_LOW"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "That nonce is used already"


class NonceTooHigh(GolemError):
    """An earlier nonce is missing."""

    code = "NONCE_TOO_HIGH"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "An earlier nonce is missing"


class AlreadyKnown(GolemError):
    """The node has these very bytes already; look the hash up."""

    code = "TX_ALREADY_KNOWN"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The node has that transaction already"


class ReplacementUnderpriced(GolemError):
    """A replacement must raise both fees enough."""

    code = "REPLACEMENT_UNDERPRICED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The replacement does not raise the fees enough"


class FeeTooLow(GolemError):
    """The fee cap is under what the node accepts."""

    code = "FEE_TOO_LOW"
    http_status = 422
    recovery = Recovery.PREVIEW_AGAIN
    title = "The fee cap is too low"


class GasLimitRefused(GolemError):
    """The gas limit is under the intrinsic cost or over the block's limit."""

    code = "GAS_LIMIT_REFUSED"
    http_status = 422
    recovery = Recovery.PREVIEW_AGAIN
    title = "The gas limit is too low or too high"


class TransactionMalformed(GolemError):
    """The node cannot read the signed bytes, or they are for another chain."""

    code = "TX_MALFORMED"
    http_status = 422
    recovery = Recovery.GIVE_UP
    title = "The node cannot read the transaction"


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


def classify_node_error(code: int | None, message: str, data: Any = None) -> type[GolemError]:
    """The type of a node's error. Revert data makes it a revert whatever the words are."""
    lowered = message.lower()
    for row_code, text, kind in NODE_ERRORS:
        if (row_code is None or row_code == code) and text in lowered:
            return kind
    return CallReverted if revert_bytes(data) else RpcRefused


def build_node_error(code: int | None, message: str, data: Any = None, *, errors: Sequence[str] = ()) -> GolemError:
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


def revert_bytes(data: Any) -> bytes:
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
