from __future__ import annotations

from typing import Any

import pytest

from tools_app.chain import node_errors as errors
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError


@pytest.mark.parametrize(
    ("code", "message", "data", "kind"),
    [
        (-32000, "nonce too low: next nonce 5, tx nonce 3", None, errors.NonceTooLow),
        (-32003, "nonce too low", None, errors.NonceTooLow),
        (-32010, "OldNonce", None, errors.NonceTooLow),
        (-32000, "already known", None, errors.AlreadyKnown),
        (-32003, "transaction already imported", None, errors.AlreadyKnown),
        (-32000, "replacement transaction underpriced", None, errors.ReplacementUnderpriced),
        (-32000, "transaction underpriced", None, errors.FeeTooLow),
        (-32000, "insufficient funds for gas * price + value: have 1 want 2", None, errors.InsufficientFunds),
        (-32003, "Insufficient funds for gas * price + value", None, errors.InsufficientFunds),
        (-38014, "whatever", None, errors.InsufficientFunds),
        (-32000, "max fee per gas less than block base fee", None, errors.FeeTooLow),
        (-32000, "intrinsic gas too low", None, errors.GasLimitRefused),
        (-32000, "exceeds block gas limit", None, errors.GasLimitRefused),
        (-32602, "Failed to decode transaction", None, errors.TransactionMalformed),
        (-32000, "invalid chain id for signer: have 1 want 31337", None, errors.TransactionMalformed),
        (3, "execution reverted: STF", "0x08c379a0", errors.CallReverted),
        (-32000, "execution reverted", None, errors.CallReverted),
        (-32015, "VM execution error.", "Reverted 0x", errors.CallReverted),
        (-32000, "some new words", "0xdeadbeef", errors.CallReverted),
        (-32000, "header not found", None, errors.BlockUnavailable),
        (-32001, "Resource not found", None, errors.BlockUnavailable),
        (-32602, "BlockOutOfRangeError: block height is 0 but requested was 153", None, errors.BlockUnavailable),
        (-32601, "Method not found", None, errors.RpcMethodMissing),
        (-32601, "the method eth_simulateV1 does not exist/is not available", None, errors.RpcMethodMissing),
        (-32005, "daily request count exceeded", None, errors.RpcRateLimited),
        (429, "slow down", None, errors.RpcRateLimited),
        (-32602, "query returned more than 10000 results", None, errors.LogRangeTooWide),
        (-32000, "known transaction: 6b1f", None, errors.AlreadyKnown),
        (-32010, "AlreadyKnown", None, errors.AlreadyKnown),
        (-32000, "replacement fee too low", None, errors.ReplacementUnderpriced),
        (-32010, "ReplacementNotAllowed", None, errors.ReplacementUnderpriced),
        (-32000, "INTERNAL_ERROR: could not replace existing tx", None, errors.ReplacementUnderpriced),
        (-32010, "Transaction nonce is too low. Try incrementing the nonce.", None, errors.NonceTooLow),
        (-32000, "nonce too high", None, errors.NonceTooHigh),
        (-32010, "NonceGap, nonce gap too large", None, errors.NonceTooHigh),
        (-32000, "insufficient balance for transfer", None, errors.InsufficientFunds),
        (-32000, "insufficient MaxFeePerGas for sender balance", None, errors.FeeTooLow),
        (-32003, "EVM error: OutOfGas", None, errors.GasLimitRefused),
        (-32000, "gas price below configured minimum gas price", None, errors.FeeTooLow),
        (-32010, "FeeTooLow, MaxFeePerGas too low", None, errors.FeeTooLow),
        (-32602, "max priority fee per gas higher than max fee per gas", None, errors.FeeTooLow),
        (-38013, "too little", None, errors.GasLimitRefused),
        (-38015, "too much", None, errors.GasLimitRefused),
        (-32000, "transaction gas limit is greater than the cap", None, errors.GasLimitRefused),
        (-32000, "gas required exceeds allowance (21000)", None, errors.GasLimitRefused),
        (-32000, "invalid sender", None, errors.TransactionMalformed),
        (-32000, "incompatible EIP155 transaction", None, errors.TransactionMalformed),
        (-32000, "transaction type not supported", None, errors.TransactionMalformed),
        (-32000, "rlp: expected List", None, errors.TransactionMalformed),
        (-32000, "invalid opcode: INVALID", None, errors.CallReverted),
        (-32003, "EVM error: StackOverflow", None, errors.CallReverted),
        (-32000, "stack underflow (0 <=> 1)", None, errors.CallReverted),
        (-32000, "block not found: 0x99", None, errors.BlockUnavailable),
        (-39001, "Unknown block", None, errors.BlockUnavailable),
        (-32000, "missing trie node 5b9f", None, errors.BlockUnavailable),
        (-32000, "required historical state unavailable: historical state", None, errors.BlockUnavailable),
        (-32000, "state is not available", None, errors.BlockUnavailable),
        (-32000, "hash 0x5b is not canonical", None, errors.BlockUnavailable),
        (-32602, "range is too large, max is 1k blocks", None, errors.LogRangeTooWide),
        (-32602, "eth_getLogs is limited to a 10,000 block range", None, errors.LogRangeTooWide),
        (-32602, "too many results", None, errors.LogRangeTooWide),
        (-32602, "log response size exceeded", None, errors.LogRangeTooWide),
        (-32000, "unsupported method", None, errors.RpcMethodMissing),
        (-32000, "method not found", None, errors.RpcMethodMissing),
        (-32000, "eth_x does not exist/is not available", None, errors.RpcMethodMissing),
        (-32000, "rate limit reached", None, errors.RpcRateLimited),
        (-32000, "Too Many Requests", None, errors.RpcRateLimited),
        (-32000, "your app exceeded its compute capacity", None, errors.RpcRateLimited),
        (-32000, "request timeout", None, errors.RpcTimeout),
        (-32000, "the request timed out", None, errors.RpcTimeout),
        (-32000, "something nobody has seen", None, errors.RpcRefused),
        (None, "", None, errors.RpcRefused),
    ],
)
def test_what_a_node_says_becomes_a_type(code: int | None, message: str, data: Any, kind: type[GolemError]) -> None:
    assert errors.classify_node_error(code, message, data) is kind
    assert isinstance(errors.build_node_error(code, message, data), kind)


def test_a_revert_carries_its_reason_and_its_bytes() -> None:
    data = "0x" + encode_call("function Error(string)", "Too little received").hex()
    error = errors.build_node_error(3, "execution reverted", data)

    assert error.detail == "Too little received"
    assert error.data["revert_data"] == data
    assert error.data["error_name"] == "Error"


def test_revert_bytes_are_found_however_a_node_nests_them() -> None:
    assert errors.revert_bytes("0xdead") == b"\xde\xad"
    assert errors.revert_bytes("Reverted 0xdead") == b"\xde\xad"
    assert errors.revert_bytes({"data": {"data": "0xdead"}}) == b"\xde\xad"
    assert errors.revert_bytes({"data": "0xzz"}) == b""
    assert errors.revert_bytes(None) == b""


def test_every_code_is_used_by_one_class_only() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, GolemError)]
    codes = [kind.code for kind in kinds if kind is not GolemError]

    assert len(codes) == len(set(codes))
    assert "INTERNAL_ERROR" not in codes
