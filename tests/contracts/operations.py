"""The real EntryPoint of ERC-4337 (v0.7) on a test's engine, and a stranger who comes through it.

Both EntryPoint and the stranger's account run their authors' bytecode, out of the package that the local world has them
from. The account is a key that delegated itself to MetaMask's account code (EIP-7702).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from eth_utils.crypto import keccak
from rlp import encode as rlp_encode

from golem_project.embedded.npm import load_lock
from golem_project.embedded.world.protocols import metamask
from tests.proof.caged.engines import Engine, InProcessEngine, NodeEngine, Sent, make_account
from tests.proof.caged.safe import CagedSafe, sign_digest
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip
from tools_app.chain.abi import (
    checksum,
    decode_log,
    decode_output,
    decode_revert,
    encode_args,
    encode_call,
    event_topic,
)
from tools_app.standards import zerodev_kernel
from tools_app.standards.user_operation import FAILED_OP, FAILED_OP_WITH_REVERT, HANDLE_OPS, UserOperation
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

_OPERATION: Final = HANDLE_OPS.split("(", 1)[1].split("[]")[0]
_TYPED_HASH: Final = f"function getPackedUserOperationTypedDataHash({_OPERATION} userOp) view returns (bytes32)"
_NEXT_NONCE: Final = "function getNonce(address sender, uint192 key) view returns (uint256)"
_DEPOSIT: Final = "function depositTo(address account) payable"
_DONE: Final = (
    "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,"
    " uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)"
)
_WHY: Final = (
    "event UserOperationRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce,"
    " bytes revertReason)"
)
_CALL_GAS, _VERIFICATION_GAS, _PRE_GAS, _PAYMASTER_GAS = 6_000_000, 3_000_000, 100_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of one operation. `output` is why its call failed, `refusal` why the EntryPoint took it not."""

    succeeded: bool
    output: bytes
    refusal: str


@dataclass(frozen=True)
class Operations:
    """The EntryPoint, the stranger's account there, and the stranger's key, which bundles the operations itself."""

    engine: Engine
    bundler: LocalAccount
    account: LocalAccount
    entry_point: str
    maker: str
    """Who makes accounts for the EntryPoint: it calls whatever a stranger writes down as a factory."""

    def write(self, call: Call, **changes: Any) -> bytes:
        """What the bundler sends to have the account make `call`."""
        made = zerodev_kernel.build_execute([call], account=self.account.address)
        return self.sign(self._operation(call_data=made.data, **changes))

    def write_making(self, to: str, data: bytes) -> bytes:
        """What the bundler sends for an account that does not exist, with `data` for `to` as its factory's call."""
        nobody = make_account("an account that nobody made").address
        operation = list(self._operation(sender=nobody, nonce=0).pack())
        operation[2] = bytes.fromhex(to[2:]) + data
        return encode_call(HANDLE_OPS, [tuple(operation)], self.bundler.address)

    def write_as(self, sender: str, data: bytes) -> bytes:
        """What the bundler sends to have the EntryPoint take `sender` for an account and tell it `data`."""
        operation = self._operation(sender=sender, nonce=0, call_data=data, signature=b"\x01" * 65)
        return encode_call(HANDLE_OPS, [operation.pack()], self.bundler.address)

    def write_paid_by(self, paymaster: str, call: Call) -> bytes:
        """What the bundler sends to have the account's gas paid out of what `paymaster` has at the EntryPoint."""
        limits = {"paymaster_verification_gas_limit": _PAYMASTER_GAS, "paymaster_post_op_gas_limit": _PAYMASTER_GAS}
        return self.write(call, paymaster=paymaster, paymaster_data=b"\x00" * 97, **limits)

    def sign(self, operation: UserOperation) -> bytes:
        """`handleOps` with the operation, signed by the account's key as its own code asks for."""
        output = self.engine.read(operation.sender, encode_call(_TYPED_HASH, operation.pack()))
        signed = replace(operation, signature=sign_digest(self.account, output[:32]))
        return encode_call(HANDLE_OPS, [signed.pack()], self.bundler.address)

    def carry(self, data: bytes) -> Carried:
        """The bundler's transaction, and what became of the operation in it."""
        sent = self.engine.send(self.bundler, self.entry_point, data)
        return read_carried(sent.succeeded, sent.output, sent.logs)

    def call(self, to: str, data: bytes) -> Sent:
        """Have the account call; the answer is that of its call."""
        sent = self.engine.send(self.bundler, self.entry_point, self.write(Call(to, data, 0, "")))
        done = read_carried(sent.succeeded, sent.output, sent.logs)
        assert not done.refusal, done.refusal
        return replace(sent, succeeded=done.succeeded, output=done.output)

    def deposit(self, for_account: str, wei: int) -> None:
        """Whoever likes pays for anybody's operations."""
        sent = self.engine.send(self.bundler, self.entry_point, encode_call(_DEPOSIT, for_account), wei)
        assert sent.succeeded

    def _operation(self, *, sender: str = "", nonce: int | None = None, **changes: Any) -> UserOperation:
        sender = sender or self.account.address
        if nonce is None:
            output = self.engine.read(self.entry_point, encode_call(_NEXT_NONCE, sender, 0))
            nonce = int(decode_output(_NEXT_NONCE, output)[0])
        facts: dict[str, Any] = {"call_data": b"", "call_gas_limit": _CALL_GAS, "max_fee_per_gas": 0}
        facts |= {"verification_gas_limit": _VERIFICATION_GAS, "pre_verification_gas": _PRE_GAS}
        return UserOperation(sender=sender, nonce=nonce, max_priority_fee_per_gas=0, **{**facts, **changes})


def read_carried(succeeded: bool, output: bytes, logs: Iterable[LogEntry]) -> Carried:
    """What a bundler's transaction says of its one operation."""
    if not succeeded:
        told = decode_revert(output, (FAILED_OP, FAILED_OP_WITH_REVERT))
        return Carried(False, bytes(told.args.get("inner", b"")), str(told.args.get("reason", told.text)))
    found = {log.topics[0]: log for log in logs if log.topics}
    done = decode_log(_DONE, found[event_topic(_DONE)])
    why = decode_log(_WHY, found[event_topic(_WHY)]) if event_topic(_WHY) in found else None
    assert done is not None
    return Carried(bool(done["success"]), bytes(why["revertReason"]) if why else b"", "")


def deploy_operations(caged: CagedSafe) -> Operations:
    """EntryPoint and the code of the account, and a second key of the stranger's that delegated itself to that code."""
    code, account = _load_code(), make_account("a stranger's account of operations")
    entry_point = _create(caged, code["EntryPoint"])
    # The code keeps the address of a manager of delegations, which nothing here goes through.
    arguments = encode_args(("address", "address"), (caged.stranger.address, entry_point))
    implementation = _create(caged, code["EIP7702StatelessDeleGator"] + arguments)
    set_code(caged.engine, account.address, bytes.fromhex("ef0100" + implementation[2:]))
    # It is the first contract that the EntryPoint creates.
    maker = checksum("0x" + keccak(rlp_encode([bytes.fromhex(entry_point[2:]), 1]))[12:].hex())
    return Operations(caged.engine, caged.stranger, account, entry_point, maker)


def set_code(engine: Engine, address: str, code: bytes) -> None:
    """As if it had been put there."""
    if isinstance(engine, InProcessEngine):
        engine.chain.state.set_code(bytes.fromhex(address[2:]), code)
    elif isinstance(engine, NodeEngine):
        engine.rpc.call("anvil_setCode", address, "0x" + code.hex())


def _create(caged: CagedSafe, code: bytes) -> str:
    sent = caged.engine.send(caged.deployer, None, code)
    assert sent.succeeded and sent.created
    return sent.created


@cache
def _load_code() -> dict[str, bytes]:
    packages = load_lock(metamask.WORLD.lock_file)
    folder = fetch_or_skip(packages.values())[packages["delegation_abis"].name]
    found = {}
    for name in ("EntryPoint", "EIP7702StatelessDeleGator"):
        text = (folder / f"dist/bytecode/{name}.cjs").read_text()
        found[name] = bytes.fromhex(text.split('bytecode = "0x', 1)[1].split('"', 1)[0])
    return found
