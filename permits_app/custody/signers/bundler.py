"""ZeroDev's bundler and paymaster: one JSON-RPC address per project and chain, and the project's id is its key.

Written to the public API: the methods of ERC-4337 and ERC-7677, and `zd_getUserOperationGasPrice`. It is a stranger:
its figures are bounds to check, its words are not repeated, and what became of an operation the chain says.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from permits_app.errors import SignerMismatch, SignerUnavailable
from tools_app.chain.abi import checksum
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
from tools_app.core import guarded_http
from tools_app.core.bounded_parsing import read_json
from tools_app.core.errors import GolemError
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret
from tools_app.standards.user_operation import ENTRY_POINT, UserOperation

ZERODEV_URL: Final = "https://rpc.zerodev.app/api/v3"
_MOST_ANSWER_BYTES: Final = 262_144
# A quantity of gas or a price beyond this is no answer: a block holds less, and no chain ever cost so much.
_MOST_QUANTITY: Final = 1 << 64
_REASON: Final = re.compile(r"\bAA[0-9]{2}\b")
_REFUSALS: Final[tuple[tuple[str, type[GolemError]], ...]] = (
    # a piece of the answer in lower case, what it means; the first that fits wins
    ("already known", AlreadyKnown),
    ("already in mempool", AlreadyKnown),
    ("underpriced", ReplacementUnderpriced),
    ("replacement", ReplacementUnderpriced),
    ("aa25", NonceTooLow),
    ("aa21", InsufficientFunds),
    ("aa31", InsufficientFunds),
    ("-32508", InsufficientFunds),
    ("aa24", TransactionMalformed),
    ("aa34", TransactionMalformed),
    ("-32507", TransactionMalformed),
    ("maxfeepergas", FeeTooLow),
    ("maxpriorityfeepergas", FeeTooLow),
    ("preverificationgas", GasLimitRefused),
    ("gaslimit", GasLimitRefused),
    ("-32602", TransactionMalformed),
)


@dataclass(frozen=True, slots=True)
class GasAround:
    """What an operation needs besides its call, in gas units."""

    verification: int
    pre_verification: int
    paymaster_verification: int = 0


@dataclass(frozen=True, slots=True)
class Sponsorship:
    """What a paymaster puts into an operation. Gas in gas units, 0 where it does not say."""

    paymaster: str
    data: bytes = field(repr=False)
    verification_gas: int = 0
    post_op_gas: int = 0


@dataclass(frozen=True, slots=True)
class _ToldPrices:
    """Prices by speed, as the bundler answers them; a stranger's, judged where they are used."""

    standard: object = None


@dataclass(frozen=True, slots=True)
class _ToldPrice:
    """One of them, in the bundler's own words."""

    maxFeePerGas: object = None
    maxPriorityFeePerGas: object = None


@dataclass(frozen=True, slots=True)
class _ToldGas:
    """An estimate, in the bundler's own words."""

    verificationGasLimit: object = None
    preVerificationGas: object = None
    paymasterVerificationGasLimit: object = None


@dataclass(frozen=True, slots=True)
class BundlerClient:
    """The project at ZeroDev that this server asks. Its id stays out of every text."""

    project_id: Secret = field(repr=False)
    url: str = ZERODEV_URL
    allows_private: bool = False
    timeout_seconds: float = 10.0

    def check_serves(self, chain_id: int) -> None:
        """That it is a bundler of this chain and of our EntryPoint. Raises SignerUnavailable, SignerMismatch."""
        if _as_quantity(self._ask(chain_id, "eth_chainId", [])) != chain_id:
            raise SignerMismatch("the bundler serves another chain", chain_id=chain_id)
        served = self._ask(chain_id, "eth_supportedEntryPoints", [])
        if not isinstance(served, list) or ENTRY_POINT.lower() not in {str(each).lower() for each in served}:
            raise SignerMismatch("the bundler serves another EntryPoint than v0.7", entry_point=ENTRY_POINT)

    def read_fees(self, chain_id: int) -> tuple[int, int]:
        """The cap and the priority fee it takes an operation at, wei per gas. Raises as check_serves does."""
        answer = self._ask(chain_id, "zd_getUserOperationGasPrice", [])
        prices = read_stored(_ToldPrices, answer) if isinstance(answer, dict) else _ToldPrices()
        if not isinstance(prices.standard, dict):
            raise SignerMismatch("the bundler's gas price has another shape")
        price = read_stored(_ToldPrice, prices.standard)
        return _as_quantity(price.maxFeePerGas), _as_quantity(price.maxPriorityFeePerGas)

    def estimate(self, chain_id: int, operation: UserOperation) -> GasAround:
        """What `operation` needs around its call. Raises as check_serves does, and what a refusal means."""
        answer = self._ask(chain_id, "eth_estimateUserOperationGas", [operation.as_rpc(), ENTRY_POINT])
        if not isinstance(answer, dict):
            raise SignerMismatch("the bundler's estimate has another shape")
        told = read_stored(_ToldGas, answer)
        return GasAround(
            verification=_as_quantity(told.verificationGasLimit),
            pre_verification=_as_quantity(told.preVerificationGas),
            paymaster_verification=_as_quantity(told.paymasterVerificationGasLimit or "0x0"),
        )

    def sponsor(self, chain_id: int, operation: UserOperation, *, is_stub: bool) -> Sponsorship:
        """The paymaster's part; a stub is for estimating only. Raises as estimate does."""
        method = "pm_getPaymasterStubData" if is_stub else "pm_getPaymasterData"
        answer = self._ask(chain_id, method, [operation.as_rpc(), ENTRY_POINT, hex(chain_id), {}])
        try:
            return Sponsorship(
                paymaster=str(checksum(answer["paymaster"])),
                data=bytes.fromhex(str(answer["paymasterData"]).removeprefix("0x")),
                verification_gas=_as_quantity(answer.get("paymasterVerificationGasLimit") or "0x0"),
                post_op_gas=_as_quantity(answer.get("paymasterPostOpGasLimit") or "0x0"),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SignerMismatch("the paymaster's answer has another shape") from None

    def send(self, chain_id: int, operation: UserOperation, *, op_hash: str) -> None:
        """Hand a signed operation over; returns when the bundler says it has it, now or from before.

        Raises what its refusal means; RpcTimeout where it stays open whether it has it, and SignerMismatch where it
        names another operation than `op_hash`.
        """
        try:
            said = self._ask(chain_id, "eth_sendUserOperation", [operation.as_rpc(), ENTRY_POINT], is_sending=True)
        except AlreadyKnown:
            return
        if not isinstance(said, str) or said.lower() != op_hash:
            raise SignerMismatch("the bundler named another operation than the one it was given", op_hash=op_hash)

    def _ask(
        self,
        chain_id: int,
        method: str,
        params: list[Any],  # Any: an answer from outside, checked where it is read
        *,
        is_sending: bool = False,
    ) -> Any:  # Any: an answer from outside, checked where it is read
        url = f"{self.url.rstrip('/')}/{_as_path(self.project_id.reveal())}/chain/{chain_id}"
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            target = guarded_http.resolve(url, allows_private=self.allows_private)
        except (AddressRefused, ExchangeFailed) as error:
            raise SignerUnavailable(f"the bundler is not reached: {error}") from None
        try:
            answer = guarded_http.post(
                target, headers=headers, body=body, seconds=self.timeout_seconds, most_bytes=_MOST_ANSWER_BYTES
            )
        except ExchangeFailed as error:
            if is_sending:
                raise RpcTimeout("the bundler did not answer; it may have the operation", maybe_sent=True) from None
            raise SignerUnavailable(f"the bundler is not reached: {error}") from None
        return _read(answer)


def _read(answer: guarded_http.Answer) -> Any:  # Any: an answer from outside, checked where it is read
    """The result inside an answer. Raises what an error in it means; its texts are a stranger's and not repeated."""
    if answer.status in (401, 403, 404):
        raise SignerUnavailable("the bundler refused this server's project id")
    try:
        found = read_json(answer.body, most_bytes=_MOST_ANSWER_BYTES)
    except ValueError:
        raise SignerUnavailable(f"the bundler answered {answer.status}, and no JSON") from None
    if not isinstance(found, dict):
        raise SignerMismatch("the bundler's answer is no object")
    error = found.get("error")
    if error is None and "result" in found:
        return found["result"]
    code = error.get("code") if isinstance(error, dict) else None
    text = str(error.get("message", "")) if isinstance(error, dict) else ""
    raise explain_refusal(code if isinstance(code, int) else None, text)


def explain_refusal(code: int | None, text: str) -> GolemError:
    """What a bundler's refusal means, with the EntryPoint's own reason (AAnn) and no other word of it."""
    lowered = f"{code} {text}".lower()
    kind = next((kind for piece, kind in _REFUSALS if piece in lowered), RpcRefused)
    reason = _REASON.search(text)
    said = reason.group(0) if reason else f"code {code}"
    return kind(f"the bundler refused the operation: {said}", reason=said)


def _as_quantity(found: Any) -> int:  # Any: an answer from outside, checked where it is read
    try:
        quantity = int(found, 16)
    except (TypeError, ValueError):
        raise SignerMismatch("the bundler answered no quantity") from None
    if not 0 <= quantity < _MOST_QUANTITY:
        raise SignerMismatch("the bundler answered a quantity that cannot be")
    return quantity


def _as_path(project_id: str) -> str:
    if not project_id.isascii() or not project_id.replace("-", "").isalnum():
        raise SignerUnavailable("the project id of ZeroDev has letters, digits and hyphens")
    return project_id
