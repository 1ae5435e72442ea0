"""Runs hostile batches one after the other, and sees for itself what became of the Safe.

On the node a whole run is one request, on simulated blocks of their own times; in process each batch is mined.
Beside each batch its calls can be run from the Safe itself and undone, which is what a prediction starts from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from permits_app.policy_cage.contract import encode_execute
from tests.proof.caged.batches import HostileBatch
from tests.proof.caged.engines import GAS, InProcessEngine, NodeEngine, Sent, parse_simulated
from tests.proof.caged.safe import CagedSafe, deploy
from tools_app.chain.abi import decode_output, encode_call

LOOK = (
    "function look(address safe, address cage, address thief, address lender, address[] tokens, address[] spenders)"
    " view returns ((uint256[] balances, uint256[] allowances, uint256[] throughPermit2, uint256 coins,"
    " uint256[4] position, uint256 threshold, uint256 owners, uint256 nonce, bool isThiefModule, bool isCageModule)"
    " seen)"
)
RUN_AND_LOOK = (
    "function runAndLook((address to, uint256 value, bytes data)[] calls, address watcher, bytes question)"
    " returns (uint256 done, bytes reason, bytes answer)"
)
SIMULATE_AND_REVERT = "function simulateAndRevert(address targetContract, bytes calldataPayload)"
SET_ANSWER = "function setAnswer(int256 answer)"


@dataclass(frozen=True, slots=True)
class Seen:
    """The Safe as the watcher sees it. `position`: gross, debt, largest, newest. Allowances by token, then spender;
    those through Permit2 have the time they expire in the bits above their 160.
    """

    balances: tuple[int, ...]
    allowances: tuple[int, ...]
    through_permit2: tuple[int, ...]
    coins: int
    position: tuple[int, ...]
    threshold: int
    owners: int
    nonce: int
    is_thief_module: bool
    is_cage_module: bool

    def permitted(self, at: int) -> tuple[int, ...]:
        """What may be taken through Permit2 at a time, in the order of the allowances."""
        return tuple(0 if word >> 160 < at else word & (1 << 160) - 1 for word in self.through_permit2)


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


@dataclass(frozen=True, slots=True)
class Question:
    """A run of batches as the node is asked for it; `params` are those of `eth_simulateV1`."""

    batches: tuple[HostileBatch, ...]
    times: tuple[int, ...]
    params: tuple[Any, ...]
    is_dry_run_wanted: bool


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
            LOOK,
            self.caged.safe,
            self.caged.cage,
            self.caged.stranger.address,
            self.caged.lender,
            self.tokens,
            self.spenders,
        )

    def look(self) -> Seen:
        return parse_seen(self.caged.engine.read(self.watcher, self.question))

    def run(self, batches: Sequence[HostileBatch], *, is_dry_run_wanted: bool = False) -> list[Step]:
        """Every batch in turn. On the node nothing is kept; in process it is, and the caller undoes it."""
        engine = self.caged.engine
        if isinstance(engine, NodeEngine):
            question = self.ask_node(engine, batches, is_dry_run_wanted=is_dry_run_wanted)
            return self.read_answer(question, engine.rpc.call("eth_simulateV1", *question.params))
        if not isinstance(engine, InProcessEngine):
            raise TypeError("an engine of which nobody knows how it runs batches")
        return [self._run_in_process(engine, batch, is_dry_run_wanted) for batch in batches]

    def ask_node(
        self, engine: NodeEngine, batches: Sequence[HostileBatch], *, is_dry_run_wanted: bool = False
    ) -> Question:
        """A whole run as one request: each batch a block of its own time, on top of the chain as it is."""
        at, blocks = engine.now(), []
        times = []
        for batch in batches:
            at += batch.seconds
            times.append(at)
            calls = [self._set_price(symbol, price) for symbol, price in batch.prices]
            if is_dry_run_wanted:
                calls.append(_request(self.caged.stranger.address, self.caged.safe, self._dry_data(batch)))
            calls.append(_request(self.caged.session.address, self.caged.cage, encode_execute(batch.calls)))
            calls.append(_request(self.caged.stranger.address, self.watcher, self.question))
            calls += [self._set_price(symbol, price) for symbol, price in batch.restored]
            blocks.append({"blockOverrides": {"time": hex(at), "gasLimit": hex(10**9)}, "calls": calls})
        params = ({"blockStateCalls": blocks, "validation": False}, "latest")
        return Question(tuple(batches), tuple(times), params, is_dry_run_wanted)

    def read_answer(self, question: Question, answer: list[dict[str, Any]]) -> list[Step]:
        """What the node said each batch did."""
        steps = []
        for batch, time, block in zip(question.batches, question.times, answer, strict=True):
            sent = [parse_simulated(call, time) for call in block["calls"]]
            look = len(sent) - 1 - len(batch.restored)
            dry = parse_dry_run(sent[look - 2].output) if question.is_dry_run_wanted else None
            steps.append(Step(batch, sent[look - 1], parse_seen(sent[look].output), dry))
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
        seen = self.look()
        for symbol, price in batch.restored:
            engine.send(self.caged.deployer, self.caged.coins[symbol].feed, encode_call(SET_ANSWER, price))
        return Step(batch, sent, seen, dry)

    def _set_price(self, symbol: str, price: int) -> dict[str, Any]:
        return _request(self.caged.deployer.address, self.caged.coins[symbol].feed, encode_call(SET_ANSWER, price))

    def _dry_data(self, batch: HostileBatch) -> bytes:
        calls = [(call.to, call.value, call.data) for call in batch.calls]
        inner = encode_call(RUN_AND_LOOK, calls, self.watcher, self.question)
        return encode_call(SIMULATE_AND_REVERT, self.watcher, inner)


def parse_seen(output: bytes) -> Seen:
    """What `look` answered. Read word by word: it is the watcher's own, and half of a proof's time otherwise."""
    words = [int.from_bytes(output[at : at + 32], "big") for at in range(32, len(output), 32)]

    def listed(index: int) -> tuple[int, ...]:
        start = words[index] // 32
        return tuple(words[start + 1 : start + 1 + words[start]])

    return Seen(
        balances=listed(0),
        allowances=listed(1),
        through_permit2=listed(2),
        coins=words[3],
        position=tuple(words[4:8]),
        threshold=words[8],
        owners=words[9],
        nonce=words[10],
        is_thief_module=bool(words[11]),
        is_cage_module=bool(words[12]),
    )


def parse_dry_run(output: bytes) -> DryRun:
    """The revert data of `simulateAndRevert`: whether the delegated call succeeded, the length, its answer."""
    if output[:32] != (1).to_bytes(32, "big"):
        raise ValueError("the dry run itself failed")
    size = int.from_bytes(output[32:64], "big")
    done, reason, answer = decode_output(RUN_AND_LOOK, output[64 : 64 + size])
    return DryRun(done, reason, parse_seen(answer) if answer else None)


def _request(sender: str, to: str, data: bytes) -> dict[str, Any]:
    return {"from": sender, "to": to, "data": "0x" + data.hex(), "gas": hex(GAS)}
