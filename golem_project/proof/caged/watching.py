"""Runs hostile batches one after the other, and sees for itself what became of the Safe.

On the node a whole run is one request, on simulated blocks of their own times; in process each batch is mined.
Beside each batch its calls can be run from the Safe itself and undone, which is what a prediction starts from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from golem_project.proof.caged.batches import HostileBatch
from golem_project.proof.caged.engines import GAS, InProcessEngine, NodeEngine, Sent, parse_simulated
from golem_project.proof.caged.safe import CagedSafe, deploy
from permits_app.policy_cage.contract import encode_execute
from tools_app.chain.abi import decode_output, encode_call

LOOK = (
    "function look(address safe, address cage, address thief, address lender, address[] tokens, address[] spenders)"
    " view returns ((uint256[] balances, uint256[] allowances, uint256 coins, uint256[4] position, uint256 threshold,"
    " uint256 owners, uint256 nonce, bool isThiefModule, bool isCageModule) seen)"
)
RUN_AND_LOOK = (
    "function runAndLook((address to, uint256 value, bytes data)[] calls, address watcher, bytes question)"
    " returns (uint256 done, bytes reason, bytes answer)"
)
SIMULATE_AND_REVERT = "function simulateAndRevert(address targetContract, bytes calldataPayload)"
SET_ANSWER = "function setAnswer(int256 answer)"


@dataclass(frozen=True, slots=True)
class Seen:
    """The Safe as the watcher sees it. `position`: gross, debt, largest, newest. Allowances by token, then spender."""

    balances: tuple[int, ...]
    allowances: tuple[int, ...]
    coins: int
    position: tuple[int, ...]
    threshold: int
    owners: int
    nonce: int
    is_thief_module: bool
    is_cage_module: bool


@dataclass(frozen=True, slots=True)
class DryRun:
    """What the calls alone would do: how many ran, why the next one failed, and what was seen after the last."""

    done: int
    reason: bytes
    seen: Seen | None


@dataclass(frozen=True, slots=True)
class Step:
    """One batch of a run, with what it did."""

    batch: HostileBatch
    sent: Sent
    seen: Seen
    dry: DryRun | None


@dataclass
class Watch:
    """A caged Safe with a watcher. `spenders` are the venue, the lender and the thief."""

    caged: CagedSafe
    watcher: str = ""

    def __post_init__(self) -> None:
        self.watcher = deploy(self.caged, "CageWatcher")
        self.tokens = [coin.address for coin in self.caged.coins.values()]
        self.spenders = [self.caged.venue, self.caged.lender, self.caged.stranger.address]
        self.question = encode_call(
            LOOK, self.caged.safe, self.caged.cage, self.caged.stranger.address, self.caged.lender, self.tokens,
            self.spenders,
        )  # fmt: skip

    def look(self) -> Seen:
        return parse_seen(self.caged.engine.read(self.watcher, self.question))

    def run(self, batches: Sequence[HostileBatch], *, is_dry_run_wanted: bool = False) -> list[Step]:
        """Every batch in turn. On the node nothing is kept; in process it is, and the caller undoes it."""
        if isinstance(self.caged.engine, NodeEngine):
            return self._run_on_node(self.caged.engine, batches, is_dry_run_wanted)
        if not isinstance(self.caged.engine, InProcessEngine):
            raise TypeError("an engine of which nobody knows how it runs batches")
        return [self._run_in_process(self.caged.engine, batch, is_dry_run_wanted) for batch in batches]

    def _run_on_node(self, engine: NodeEngine, batches: Sequence[HostileBatch], is_dry: bool) -> list[Step]:
        at, blocks = engine.now(), []
        times = []
        for batch in batches:
            at += batch.seconds
            times.append(at)
            calls = [
                _request(self.caged.deployer.address, self.caged.coins[symbol].feed, encode_call(SET_ANSWER, price))
                for symbol, price in batch.prices
            ]
            if is_dry:
                calls.append(_request(self.caged.stranger.address, self.caged.safe, self._dry_data(batch)))
            calls.append(_request(self.caged.session.address, self.caged.cage, encode_execute(batch.calls)))
            calls.append(_request(self.caged.stranger.address, self.watcher, self.question))
            blocks.append({"blockOverrides": {"time": hex(at), "gasLimit": hex(10**9)}, "calls": calls})
        answer = engine.rpc.call("eth_simulateV1", {"blockStateCalls": blocks, "validation": False}, "latest")
        steps = []
        for batch, time, block in zip(batches, times, answer, strict=True):
            sent = [parse_simulated(call, time) for call in block["calls"]]
            dry = parse_dry_run(sent[-3].output) if is_dry else None
            steps.append(Step(batch, sent[-2], parse_seen(sent[-1].output), dry))
        return steps

    def _run_in_process(self, engine: InProcessEngine, batch: HostileBatch, is_dry: bool) -> Step:
        for symbol, price in batch.prices:
            engine.send(self.caged.deployer, self.caged.coins[symbol].feed, encode_call(SET_ANSWER, price))
        engine.advance(batch.seconds)
        dry = None
        if is_dry:
            undone = engine.call(self.caged.safe, self._dry_data(batch), sender=self.caged.stranger.address)
            dry = parse_dry_run(undone.output)
        sent = engine.send(self.caged.session, self.caged.cage, encode_execute(batch.calls))
        return Step(batch, sent, self.look(), dry)

    def _dry_data(self, batch: HostileBatch) -> bytes:
        calls = [(call.to, call.value, call.data) for call in batch.calls]
        inner = encode_call(RUN_AND_LOOK, calls, self.watcher, self.question)
        return encode_call(SIMULATE_AND_REVERT, self.watcher, inner)


def parse_seen(output: bytes) -> Seen:
    """What `look` answered."""
    [seen] = decode_output(LOOK, output)
    return Seen(*seen)


def parse_dry_run(output: bytes) -> DryRun:
    """The revert data of `simulateAndRevert`: whether the delegated call succeeded, the length, its answer."""
    if output[:32] != (1).to_bytes(32, "big"):
        raise ValueError("the dry run itself failed")
    size = int.from_bytes(output[32:64], "big")
    done, reason, answer = decode_output(RUN_AND_LOOK, output[64 : 64 + size])
    return DryRun(done, reason, parse_seen(answer) if answer else None)


def _request(sender: str, to: str, data: bytes) -> dict[str, Any]:
    return {"from": sender, "to": to, "data": "0x" + data.hex(), "gas": hex(GAS)}
