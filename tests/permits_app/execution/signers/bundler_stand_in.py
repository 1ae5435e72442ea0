"""A local server that answers as ZeroDev's bundler and paymaster do, and carries operations out.

What it validates the real EntryPoint validates: an operation it would refuse is refused with the EntryPoint's own
reason; what is taken goes to the chain as `handleOps` of the stand-in's own funded key. Tests may twist its answers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from golem_project.embedded.world.rpc import RpcError
from permits_app.custody.signers.bundler import BundlerClient
from tests.evm.world import CHAIN_ID, World
from tests.permits_app.execution.signers.smart_accounts import SmartAccounts
from tests.stand_in import serve_stand_in
from tools_app.chain.abi import decode_revert, encode_args, encode_call
from tools_app.core.taint import Secret
from tools_app.standards.user_operation import ENTRY_POINT, FAILED_OP, FAILED_OP_WITH_REVERT, HANDLE_OPS, UserOperation

PROJECT_ID = "6f5d1e9a-canary-0000-project-of-tests"
PAYMASTER_GAS = (60_000, 20_000)
VERIFICATION_GAS, PRE_GAS = 150_000, 60_000
_GET_HASH = "getHash((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),uint48,uint48)"
_VALID_UNTIL, _VALID_AFTER = 2**47, 0


class Refused(Exception):
    """What it answers as a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class BundlerStandIn:
    """The project, its pool, and what a test may change of it."""

    accounts: SmartAccounts
    key: LocalAccount
    url: str = ""
    holds: bool = False
    status: int = 200
    twist: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    fails: dict[str, Refused] = field(default_factory=dict)
    seen: list[tuple[str, list[Any]]] = field(default_factory=list)
    pool: dict[str, UserOperation] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    carried: list[str] = field(default_factory=list)

    @property
    def world(self) -> World:
        """The chain it works on."""
        return self.accounts.world

    def client(self, **changes: Any) -> BundlerClient:
        """A client of this project."""
        facts: dict[str, Any] = {
            "project_id": Secret(PROJECT_ID),
            "url": f"{self.url}/api/v3",
            "allows_private": True,
            "timeout_seconds": 8.0,
        }
        return BundlerClient(**{**facts, **changes})

    def answer(self, path: str, body: bytes) -> tuple[int, Any]:
        """Status and document for one request."""
        if path != f"/api/v3/{PROJECT_ID}/chain/{CHAIN_ID}":
            return 404, {"error": f"no project at {path}"}
        asked = json.loads(body)
        method, params = asked["method"], asked["params"]
        self.seen.append((method, params))
        try:
            if method in self.answers:
                return self.status, {"jsonrpc": "2.0", "id": asked["id"], "result": self.answers[method]}
            if method in self.fails:
                raise self.fails[method]
            result = getattr(self, "_" + method)(*params)
            twist = self.twist.get(method)
            document: Any = {"jsonrpc": "2.0", "id": asked["id"], "result": twist(result) if twist else result}
        except Refused as error:
            said = {"code": error.code, "message": f"{error} (see https://stranger.example for help)"}
            document = {"jsonrpc": "2.0", "id": asked["id"], "error": said}
        return self.status, None if method in self.silent else document

    def release(self) -> None:
        """Carry out what it holds."""
        self.holds = False
        for op_hash in list(self.pool):
            self._bundle(op_hash)

    def _eth_chainId(self) -> str:
        return hex(CHAIN_ID)

    def _eth_supportedEntryPoints(self) -> list[str]:
        return [ENTRY_POINT]

    def _zd_getUserOperationGasPrice(self) -> dict[str, Any]:
        block = self.world.rpc.call("eth_getBlockByNumber", "latest", False)
        priority = 10**8
        price = {
            "maxFeePerGas": hex(int(block["baseFeePerGas"], 16) * 12 // 10 + priority),
            "maxPriorityFeePerGas": hex(priority),
        }
        return {"slow": price, "standard": price, "fast": price}

    def _eth_estimateUserOperationGas(self, shown: dict[str, str], entry_point: str) -> dict[str, str]:
        operation = read_operation(shown)
        spent = {
            "preVerificationGas": hex(PRE_GAS),
            "verificationGasLimit": hex(VERIFICATION_GAS),
            "callGasLimit": hex(operation.call_gas_limit),
        }
        if operation.paymaster:
            spent["paymasterVerificationGasLimit"] = hex(PAYMASTER_GAS[0])
        return spent

    def _pm_getPaymasterStubData(self, shown: dict[str, str], *_: Any) -> dict[str, Any]:
        times = encode_args(("uint48", "uint48"), (_VALID_UNTIL, _VALID_AFTER))
        return self._describe_sponsor(times + b"\x01" * 65)

    def _pm_getPaymasterData(self, shown: dict[str, str], *_: Any) -> dict[str, Any]:
        times = encode_args(("uint48", "uint48"), (_VALID_UNTIL, _VALID_AFTER))
        operation = read_operation(shown)
        # What is signed covers the gas limits that this answer puts into the operation.
        operation = replace(
            operation,
            paymaster=self.accounts.paymaster,
            paymaster_data=times + b"\x00" * 65,
            paymaster_verification_gas_limit=PAYMASTER_GAS[0],
            paymaster_post_op_gas_limit=PAYMASTER_GAS[1],
        )
        digest = self.world.rpc.read(
            self.accounts.paymaster, _GET_HASH, operation.pack(), _VALID_UNTIL, _VALID_AFTER, returns="(bytes32)"
        )
        digest = digest[0] if isinstance(digest, list | tuple) else digest
        signature = self.accounts.sponsor.sign_message(encode_defunct(primitive=bytes(digest))).signature
        return self._describe_sponsor(times + bytes(signature))

    def _describe_sponsor(self, data: bytes) -> dict[str, str]:
        return {
            "paymaster": self.accounts.paymaster,
            "paymasterData": "0x" + data.hex(),
            "paymasterVerificationGasLimit": hex(PAYMASTER_GAS[0]),
            "paymasterPostOpGasLimit": hex(PAYMASTER_GAS[1]),
        }

    def _eth_sendUserOperation(self, shown: dict[str, str], entry_point: str) -> str:
        if entry_point != ENTRY_POINT:
            raise Refused(-32602, "unsupported EntryPoint")
        operation = read_operation(shown)
        op_hash = operation.hash(chain_id=CHAIN_ID)
        if op_hash in self.pool:
            raise Refused(-32602, "the operation is already known")
        self._validate(operation)
        for known, other in list(self.pool.items()):
            if (other.sender, other.nonce) != (operation.sender, operation.nonce):
                continue
            pairs = (
                (operation.max_fee_per_gas, other.max_fee_per_gas),
                (operation.max_priority_fee_per_gas, other.max_priority_fee_per_gas),
            )
            if any(new * 10 < old * 11 for new, old in pairs):
                raise Refused(-32602, "replacement user operation underpriced")
            del self.pool[known]
        self.pool[op_hash] = operation
        if not self.holds:
            self._bundle(op_hash)
        return op_hash

    def _validate(self, operation: UserOperation) -> None:
        data = "0x" + encode_call(HANDLE_OPS, [operation.pack()], self.key.address).hex()
        try:
            self.world.rpc.call("eth_call", {"from": self.key.address, "to": ENTRY_POINT, "data": data}, "latest")
        except RpcError as error:
            told = decode_revert(bytes.fromhex(str(error.data or "0x")[2:]), (FAILED_OP, FAILED_OP_WITH_REVERT))
            raise Refused(-32500, str(told.args.get("reason", told.text))) from None

    def _bundle(self, op_hash: str) -> None:
        operation = self.pool.pop(op_hash)
        data = "0x" + encode_call(HANDLE_OPS, [operation.pack()], self.key.address).hex()
        receipt = self.world.send(self.key, ENTRY_POINT, data, gas=5_000_000)
        self.carried.append(receipt["transactionHash"])


def read_operation(shown: dict[str, str]) -> UserOperation:
    """What a client sent."""
    return UserOperation(
        sender=shown["sender"],
        nonce=int(shown["nonce"], 16),
        call_data=bytes.fromhex(shown["callData"][2:]),
        call_gas_limit=int(shown["callGasLimit"], 16),
        verification_gas_limit=int(shown["verificationGasLimit"], 16),
        pre_verification_gas=int(shown["preVerificationGas"], 16),
        max_fee_per_gas=int(shown["maxFeePerGas"], 16),
        max_priority_fee_per_gas=int(shown["maxPriorityFeePerGas"], 16),
        paymaster=shown.get("paymaster", ""),
        paymaster_verification_gas_limit=int(shown.get("paymasterVerificationGasLimit", "0x0"), 16),
        paymaster_post_op_gas_limit=int(shown.get("paymasterPostOpGasLimit", "0x0"), 16),
        paymaster_data=bytes.fromhex(shown.get("paymasterData", "0x")[2:]),
        signature=bytes.fromhex(shown["signature"][2:]),
    )


@contextmanager
def serve_bundler(accounts: SmartAccounts) -> Iterator[BundlerStandIn]:
    """The stand-in on a free port of this machine, with a connection to the chain of its own."""
    key = Account.create()
    accounts.world.fund(key.address, 10**21)
    own_world = World(accounts.world.rpc_url)
    stand_in = BundlerStandIn(accounts=replace(accounts, world=own_world), key=key)
    # One connection to the node, and requests may come at once.
    lock = threading.Lock()

    def answer(_: str, path: str, __: dict[str, str], body: bytes) -> tuple[int, Any]:
        with lock:
            return stand_in.answer(path, body)

    try:
        with serve_stand_in(answer) as stand_in.url:
            yield stand_in
    finally:
        own_world.rpc.close()
