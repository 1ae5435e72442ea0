"""Heists on a machine in this process: revm with all that the node's scene holds, faster than asking the node.

The package is old (rules of Cancun, and its gas is wrong after the first call), so what it finds is asked of the node
once more, and a test holds both against each other, step by step.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyrevm  # type: ignore[import-not-found]  # the optional extra
from eth_utils.crypto import keccak

from tests.proof.caged.engines import CHAIN_ID, GAS, Sent, make_account
from tests.proof.heists.scene import Scene
from tests.proof.heists.steps import Heist, Step
from tests.proof.heists.watch import BLOCK_GAS, Looker, Seen, Watch
from tools_app.chain.abi import checksum, decode_output, encode_call
from tools_app.toolkit.views import LogEntry

_OUTPUT: Final = re.compile(r"output: 0x([0-9a-f]*)")
# revm lets no contract send a transaction, so what the Safe itself sends goes through a module that only exists here.
_DEPUTY: Final = make_account("heists: the Safe's deputy").address
_MOST_CODE: Final = 24_576
_SENTINEL: Final = "0x" + "00" * 19 + "01"
_MODULES_SLOT: Final = 1
_AS_MODULE: Final = (
    "function execTransactionFromModuleReturnData(address to, uint256 value, bytes data, uint8 operation)"
    " returns (bool succeeded, bytes output)"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """The time and the block so far, what the last step did, and what was seen after it."""

    at: int
    block: int = 0
    sent: Sent | None = None
    seen: Seen | None = None


@dataclass
class Machine:
    """The scene's state as it was when this was made; runs heists and keeps nothing of them."""

    scene: Scene
    watch: Watch
    evm: Any = field(init=False)
    number: int = field(init=False)
    now: int = field(init=False)
    _placed: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        state = read_state(self.scene)
        self.number = int(state["block"]["number"], 16)
        # What the node would give the first block of a heist.
        self.now = self.scene.engine.now()
        env = pyrevm.Env(cfg=pyrevm.CfgEnv(chain_id=CHAIN_ID), block=self._block(0, self.now))
        self.evm = pyrevm.EVM(env=env, spec_id="CANCUN")
        for address, account in state["accounts"].items():
            self.put_code(address, bytes.fromhex(account["code"][2:]), nonce=int(account["nonce"]))
            self.evm.set_balance(address, int(account["balance"], 16))
            for slot, value in account["storage"].items():
                self.evm.insert_account_storage(address, int(slot, 16), int(value, 16))
        self._appoint_deputy()

    def put_code(self, address: str, code: bytes, *, nonce: int = 1) -> None:
        """Other code at an address; storage stays, coins are gone."""
        self.evm.insert_account_info(address, self._analyse(code, nonce))

    def _analyse(self, code: bytes, nonce: int) -> Any:
        """An account with this code and nonce. revm looks for the jump targets of code that was inserted at every call
        of it, and of code that was deployed once; so it is deployed elsewhere, and what came of that is inserted.
        """
        if not nonce or len(code) > _MOST_CODE:
            return pyrevm.AccountInfo(nonce=nonce, code=code)
        elsewhere = pyrevm.EVM(env=pyrevm.Env(cfg=pyrevm.CfgEnv(chain_id=CHAIN_ID)), spec_id="CANCUN")
        return elsewhere.basic(elsewhere.deploy(_DEPUTY, _write_creation(code, nonce)))

    def _place(self, looker: Looker) -> str:
        if looker.address not in self._placed:
            self.put_code(looker.address, looker.code)
            self._placed.add(looker.address)
        return looker.address

    def run(self, heists: Sequence[Heist]) -> list[list[tuple[Sent, Seen]]]:
        """What each step did, and what was seen after it, in each of these heists. Their steps are the same until they
        are fresh, and those run once.
        """
        first = heists[0]
        trunk = first.fresh if len(heists) > 1 else 0
        start = self.evm.snapshot()
        shared = list(self._walk(first.steps[:trunk], first.tokens, Moment(self.now)))
        moment = shared[-1] if shared else Moment(self.now)
        found = []
        for heist in heists:
            mark = self.evm.snapshot()
            found.append([*shared, *self._walk(heist.steps[trunk:], heist.tokens, moment)])
            self.evm.revert(mark)
        self.evm.revert(start)
        return [[(one.sent, one.seen) for one in walked if one.sent and one.seen] for walked in found]

    def _walk(self, steps: Sequence[Step], tokens: range, moment: Moment) -> Iterator[Moment]:
        evm, looker, stranger = self.evm, self._place(self.watch.make_looker(tokens)), self.scene.caged.stranger.address
        at, block, seen = moment.at, moment.block, moment.seen
        for step in steps:
            if step.seconds or not block:
                at, block = at + max(1, step.seconds), block + 1
            self.enter(block, at)
            sent = self.send(step, at)
            if sent.succeeded or seen is None:
                mark = evm.snapshot()
                seen = self.watch.read_seen(bytes(evm.message_call(stranger, looker, b"", 0, 10 * GAS, 0)))
                evm.revert(mark)
            # What was refused changed nothing but the time.
            yield Moment(at, block, sent, seen)

    def send(self, step: Step, at: int) -> Sent:
        """What a step does at this time, in the block that is set."""
        safe = self.scene.caged.safe
        sender, to, data, value = step.sender, step.to, step.data, step.value
        if sender == safe:
            sender, to, data, value = _DEPUTY, safe, encode_call(_AS_MODULE, to, value, data, 0), 0
        try:
            output = bytes(self.evm.message_call(sender, to, data, value, GAS, 0))
            sent = Sent(True, output, 0, (), None, at)
        except RuntimeError as error:
            told = _OUTPUT.search(str(error))
            sent = Sent(False, bytes.fromhex(told[1]) if told else b"", 0, (), None, at)
        # It takes all calls for one transaction, in which this would live on.
        self.evm.reset_transient_storage()
        if step.sender != safe or not sent.succeeded:
            return sent
        succeeded, output = decode_output(_AS_MODULE, sent.output)
        return replace(sent, succeeded=succeeded, output=output)

    def _appoint_deputy(self) -> None:
        safe = self.scene.caged.safe
        first = self.evm.storage(safe, _slot_of(_SENTINEL))
        self.evm.insert_account_storage(safe, _slot_of(_DEPUTY), first)
        self.evm.insert_account_storage(safe, _slot_of(_SENTINEL), int(_DEPUTY, 16))

    def enter(self, after: int, at: int) -> None:
        """The block so many after the node's newest, with this time."""
        self.evm.set_block_env(self._block(after, at))

    def ask(self, sender: str, to: str, data: bytes) -> bytes | None:
        """What a read answers; None where it reverts. Nothing is kept of it."""
        mark = self.evm.snapshot()
        try:
            return bytes(self.evm.message_call(sender, to, data, 0, GAS, 0))
        except RuntimeError:
            return None
        finally:
            self.evm.revert(mark)

    def read_logs(self) -> list[LogEntry]:
        """Those of the last transaction, which succeeded."""
        return [
            LogEntry(checksum(log.address), tuple(log.topics), "0x" + bytes(log.data[1]).hex(), 0, "", index)
            for index, log in enumerate(self.evm.result.logs)
        ]

    def _block(self, after: int, at: int) -> Any:
        return pyrevm.BlockEnv(
            number=self.number + after, timestamp=at, basefee=0, gas_limit=BLOCK_GAS, prevrandao=bytes(32)
        )


def _write_creation(code: bytes, nonce: int) -> bytes:
    """What creates a contract of this code, which has created so many others that its nonce is this one."""
    others = bytes.fromhex("600080 80 f0 50") * (nonce - 1)
    head = len(bytes.fromhex("610000 80 610000 6000 39 6000 f3"))
    return others + bytes.fromhex(f"61{len(code):04x} 80 61{len(others) + head:04x} 6000 39 6000 f3") + code


def _slot_of(module: str) -> int:
    """Where a Safe keeps the module after this one."""
    return int.from_bytes(keccak(int(module, 16).to_bytes(32, "big") + _MODULES_SLOT.to_bytes(32, "big")), "big")


def read_state(scene: Scene) -> dict[str, Any]:
    """All accounts of the node with their storage."""
    state: dict[str, Any] = json.loads(gzip.decompress(bytes.fromhex(scene.engine.rpc.call("anvil_dumpState")[2:])))
    return state
