"""The cage's twin in Python beside the cage itself, in heists among real markets: both must answer each batch alike.

What the twin starts from is read as the server reads it: a measure before, the calls made by the Safe itself, a measure
after, all of it undone; its state follows from the cage's events alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.call_rules import list_rights
from permits_app.policy_cage.contract import BatchClass, decode_cage_error, decode_cage_event
from permits_app.policy_cage.preflight import predict
from permits_app.policy_cage.preflight_simulation import read_measured
from permits_app.policy_cage.preflight_types import Measured, Observed, PreflightVerdict, Refusal, Right
from permits_app.policy_cage.safe_tx import NONCE, ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tests.proof.caged.engines import Sent
from tests.proof.heists.machine import Machine
from tests.proof.heists.scene import Scene
from tests.proof.heists.steps import Act, Heist, Step
from tools_app.chain.abi import decode_output, encode_call
from tools_app.chain.feeds import LATEST_ROUND
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

ALLOWANCE = "function allowance(address account, address spender) view returns (uint256)"
OWNER = encode_call("function owner() view returns (address)")
IS_MODULE = "function isModuleEnabled(address module) view returns (bool)"
IS_OWNER = "function isOwner(address owner) view returns (bool)"
REENTERED = bytes.fromhex("b5dfd9e5")


@dataclass
class Twin:
    """Both of one scene, which must stay as it was when this was made."""

    scene: Scene
    machine: Machine
    answers: Counter[str] = field(default_factory=Counter)
    """How often the contract gave each answer; `ran` where it let a batch run."""
    start: CageState = field(init=False)

    def __post_init__(self) -> None:
        caged = self.scene.caged
        self.start = CageState(cage=caged.cage, account=caged.safe, base_asset=caged.coins["USDC"].address)
        for log, at in self.scene.engine.history:
            self._follow(self.start, log, at)

    def compare(self, heist: Heist) -> list[str]:
        """Every batch of a heist that both do not answer alike."""
        machine, state, found = self.machine, deepcopy(self.start), []
        mark, at, block = machine.evm.snapshot(), machine.now, 0
        for index, step in enumerate(heist.steps):
            if step.seconds or not block:
                at, block = at + max(1, step.seconds), block + 1
            machine.enter(block, at)
            # A payout is no batch.
            predicted = self._predict(state, step, at) if step.calls else None
            sent = machine.send(step, at)
            logs = machine.read_logs() if sent.succeeded else []
            if predicted is not None:
                said = self._read(sent, logs)
                self.answers[said.name or "no reason" if isinstance(said, Refusal) else "ran"] += 1
                if not _is_alike(predicted, said):
                    found.append(f"heist {heist.order}, step {index}: the twin says {predicted}, the cage {said}")
            for log in logs:
                self._follow(state, log, at)
        found += [f"heist {heist.order}, at its end: {line}" for line in self._compare_states(state, at)]
        machine.evm.revert(mark)
        return found

    def _compare_states(self, state: CageState, at: int) -> list[str]:
        """Where what the events told is not what the contract says of itself."""
        pairs: list[tuple[str, tuple[object, ...], object]] = [
            ("rulesDigest", (), bytes.fromhex(state.rules_digest[2:])),
            ("assets", (), tuple(state.assets)),
            ("positions", (), tuple(state.positions)),
            ("lastRebalanceAt", (), state.last_rebalance_at),
            ("isDrawdownBreached", (), state.is_drawdown_breached),
            ("isHalted", (), state.is_halted),
        ]
        sums = (*state.assets, *(f"0x{number:040x}" for number in (1, 2, 3)))
        pairs += [("spent", (what,), state.spent(what, now=at)) for what in sums]
        found = []
        for name, args, known in pairs:
            [told] = decode_output(FUNCTIONS[name], self._ask(state.cage, encode_call(FUNCTIONS[name], *args)) or b"")
            if told != known:
                found.append(f"{name}{args} is {told}, and {known} was followed")
        return found

    def _predict(self, state: CageState, step: Step, at: int) -> PreflightVerdict | Refusal:
        return predict(state, step.calls, self._observe(state, step, at), sender=step.sender)

    def _observe(self, state: CageState, step: Step, at: int) -> Observed:
        caged, calls = self.scene.caged, step.calls
        targets, rights = {call.to for call in calls}, list_rights(state, calls)
        before, held, nonce = self._measure(), self._read_rights(rights), self._word(caged.safe, NONCE)
        mark, after, held_after, acted = self.machine.evm.snapshot(), None, {}, 0
        failure = self._run(calls, at)
        if failure is None:
            after, held_after = self._measure(), self._read_rights(rights)
            acted = self._word(caged.safe, NONCE) - nonce
        self.machine.evm.revert(mark)
        return Observed(
            now=at,
            prices={asset: self._read_price(asset) for asset in state.assets},
            before=before,
            after=after,
            failure=failure,
            codeless=frozenset(to for to in targets if not self.machine.evm.basic(to).code),
            hooks=frozenset({ZERO_ADDRESS, self.scene.callback}),
            modules=frozenset(to for to in targets if self._word(caged.safe, IS_MODULE, to)),
            owned=frozenset(to for to in targets if (self._ask(to, OWNER) or b"") == _as_word(caged.safe)),
            is_key_owner=bool(self._word(caged.safe, IS_OWNER, step.sender)),
            nonce=nonce,
            acted=acted,
            rights_before=held,
            rights_after=held_after,
            seen_prices=self._word(caged.cage, FUNCTIONS["seenPrices"]),
            sequencer=self._read_sequencer(),
        )

    def _run(self, calls: Sequence[Call], at: int) -> Refusal | None:
        """The calls made by the Safe; which of them failed first and why."""
        for index, call in enumerate(calls):
            done = self.machine.send(Step(Act.OTHER, self.scene.caged.safe, call.to, call.data, value=call.value), at)
            if not done.succeeded:
                return Refusal("CallFailed", (index, done.output))
        return None

    def _measure(self) -> Measured | Refusal:
        return self._read_or_refusal(FUNCTIONS["measure"], read_measured)

    def _read_price(self, asset: str) -> tuple[int, int] | Refusal:
        text = FUNCTIONS["priceOf"]
        found: Any = self._read_or_refusal(text, lambda output: tuple(decode_output(text, output)), asset)
        return found

    def _read_or_refusal(self, text: str, read: Any, *args: object) -> Any:
        """What a view of the cage answers, or its error."""
        step = Step(Act.OTHER, self.scene.caged.stranger.address, self.scene.caged.cage, encode_call(text, *args))
        mark = self.machine.evm.snapshot()
        done = self.machine.send(step, 0)
        self.machine.evm.revert(mark)
        return read(done.output) if done.succeeded else _refusal_of(done.output)

    def _read_rights(self, rights: Sequence[Right]) -> dict[Right, int | Refusal]:
        found: dict[Right, int | Refusal] = {}
        for right in rights:
            if right.is_of_permit2:
                raise ValueError("no heist goes through Permit2")
            told = self._ask(right.token, encode_call(ALLOWANCE, self.scene.caged.safe, right.spender))
            is_read = told is not None and len(told) >= 32
            found[right] = int.from_bytes(told[:32], "big") if told and is_read else _unreadable(right)
        return found

    def _read_sequencer(self) -> tuple[int, int] | None:
        told = self._ask(self.scene.sequencer, encode_call(LATEST_ROUND))
        if told is None:
            return None
        _, answer, since, _, _ = decode_output(LATEST_ROUND, told)
        return int(answer), int(since)

    def _word(self, to: str, text: str, *args: object) -> int:
        return int.from_bytes(self._ask(to, encode_call(text, *args)) or b"", "big")

    def _ask(self, to: str, data: bytes) -> bytes | None:
        return self.machine.ask(self.scene.caged.stranger.address, to, data)

    def _read(self, sent: Sent, logs: Sequence[LogEntry]) -> PreflightVerdict | Refusal:
        """What the contract said."""
        if not sent.succeeded:
            return _refusal_of(sent.output)
        events = [decode_cage_event(log) for log in logs if log.address == self.scene.caged.cage]
        [done] = [event.args for event in events if event is not None and event.name == "BatchExecuted"]
        return PreflightVerdict(BatchClass(done["batchClass"]), done["moved"], done["loss"])

    def _follow(self, state: CageState, log: LogEntry, at: int) -> None:
        event = decode_cage_event(log) if log.address == self.scene.caged.cage else None
        if event is not None:
            state.apply_event(event, block_time=at)


def _is_alike(predicted: PreflightVerdict | Refusal, said: PreflightVerdict | Refusal) -> bool:
    is_reentrant = isinstance(said, Refusal) and said.name == "CallFailed" and said.args[1] == REENTERED
    if is_reentrant and isinstance(predicted, Refusal) and isinstance(said, Refusal):
        # Run by themselves the calls find the cage empty, so the reason inside differs; the call is the same.
        return predicted.args[0] == said.args[0]
    return predicted == said


def _refusal_of(output: bytes) -> Refusal:
    if not output:
        return Refusal("")
    reason = decode_cage_error(output)
    return Refusal(reason.name or "", tuple(reason.args.values()))


def _unreadable(right: Right) -> Refusal:
    return Refusal("BalanceUnreadable", (right.token,))


def _as_word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])
