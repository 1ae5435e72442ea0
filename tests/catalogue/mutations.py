"""Every word of a plan's calls changed once: what the guardian lets pass is simulated, and what that lets pass is told.

Most changes are refused by what the bytes say against what the plan says, at no cost but a decoding, and what the calls
before the changed one do is decoded once for all; only the few that say the same are judged by the whole guardian and
run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import pytest

from permits_app.hook_rejection import Reject
from permits_app.reviewers import safety_guardian as guardian
from permits_app.safety.decoding import read_calls, read_on, tell_claims
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks import simulator
from permits_app.safety.hooks.simulator import Simulator, rehearse_whole
from tools_app.chain.signatures import parse_signature
from tools_app.core.errors import GolemError
from tools_app.standards import loan_callback
from tools_app.toolkit.case import Case
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import EngineSetting, RiskTier
from tools_app.toolkit.plan import Call, TxPlan


@dataclass(frozen=True)
class Mutant:
    """A plan with one change: at `word` of the data of call `index`, or elsewhere in it."""

    plan: TxPlan
    index: int
    word: int | None
    what: str


def list_mutants(plan: TxPlan) -> Iterator[Mutant]:
    """Each word of each call once; then its function, its coin, its contract, and one word more than there is."""
    for index, call in enumerate(plan.calls):

        def changed(what: str, word: int | None = None, at: int = index, **change: object) -> Mutant:
            calls = (*plan.calls[:at], replace(plan.calls[at], **change), *plan.calls[at + 1 :])  # type: ignore[arg-type]
            return Mutant(replace(plan, calls=calls), at, word, f"{what} of call {at} ({plan.calls[at].label})")

        data = call.data
        for word, start in enumerate(range(4, len(data), 32)):
            end = min(start + 32, len(data))
            value = int.from_bytes(data[start:end], "big")
            # A flag turned round; of everything else eight more, which no rounding explains.
            value = value ^ 1 if value < 2 else (value + 8) % 256 ** (end - start)
            yield changed(f"word {word}", word, data=data[:start] + value.to_bytes(end - start, "big") + data[end:])
        yield changed("the function", data=bytes([data[0] ^ 1, *data[1:]]))
        yield changed("the coin", value=call.value + 1)
        yield changed("the contract", to="0x" + "33" * 20)
        yield changed("the length", data=data + bytes(32))


def find_passed(call: HookCall, case: Case) -> tuple[list[Mutant], int, int]:
    """The mutants that nothing refuses; how many were made, and how many had to be run.

    Each is run once on one engine. Only what that lets pass is asked of the whole hook, with every engine and every
    state on the way; of a word that the case lists as meaning nothing, nothing more is asked, and once one call has
    shown that, no other is run for it.
    """
    plan = call.plan
    assert plan is not None
    passed, made, run = [], 0, 0
    readings, shown = Readings(call), set()
    for mutant in list_mutants(plan):
        made += 1
        if readings.is_read_apart(mutant):
            continue
        listed = find_listed(case, mutant)
        if listed in shown:
            continue
        run += 1
        changed = replace(call, plan=mutant.plan)
        if not guardian.review(changed).is_approved:
            continue
        if not _is_refused(changed, is_whole_enough=listed is not None):
            passed.append(mutant)
            shown |= {listed} - {None}
    return passed, made, run


class Readings:
    """What the guardian reads in a plan with one change; calls before the changed one are read once for all."""

    def __init__(self, call: HookCall) -> None:
        assert call.plan is not None and call.chain is not None and call.view.address is not None
        self.call, self.chain, self.account = call, call.chain, call.view.address
        self.is_flat = loan_callback.unfold(call.plan.calls) == call.plan.calls
        self.before = [Effects()]
        """What the first so many calls do."""

    def is_read_apart(self, mutant: Mutant) -> bool:
        """Whether something else is read in the bytes than the plan says, or they cannot be read at all."""
        try:
            effects = self._read(mutant)
        except (UnknownCall, GolemError):
            return True
        return bool(list_differences(self.call, effects, mutant.plan))

    def _read(self, mutant: Mutant) -> Effects:
        calls = mutant.plan.calls
        if not self.is_flat or loan_callback.unfold(calls) != calls:
            return read_calls(calls, account=self.account, chain=self.chain)
        while len(self.before) <= mutant.index:
            self.before.append(self._read_on(calls[: len(self.before)], len(self.before) - 1))
        effects = self._read_on(calls, mutant.index)
        tell_claims(effects, self.chain)
        return effects

    def _read_on(self, calls: Sequence[Call], begin: int) -> Effects:
        effects = deepcopy(self.before[begin])
        read_on(calls, begin, account=self.account, chain=self.chain, into=effects)
        return effects


def list_differences(call: HookCall, effects: Effects, plan: TxPlan) -> list[str]:
    """What the guardian's rules about the bytes alone find."""
    assert call.view.address is not None
    now = call.chain.block.timestamp if call.chain is not None else 0
    return [
        *guardian.judge_recipients(effects, account=call.view.address, payable=guardian.list_payable(call)),
        *guardian.judge_spends(effects, plan),
        *guardian.judge_receives(effects, plan),
        *guardian.judge_approvals(effects, plan),
        *guardian.judge_rights(effects, plan),
        *guardian.judge_changes(effects, plan),
        *guardian.judge_statements(effects, plan),
        *guardian.judge_deadlines(effects, plan, now=now),
    ]


def find_listed(case: Case, mutant: Mutant) -> tuple[str, int] | None:
    """Under which words the case says that this one means nothing."""
    called = mutant.plan.calls[mutant.index].data[:4]
    return next(
        (
            (signature, place)
            for signature, place in case.meaningless
            if place == mutant.word and called == parse_signature(f"function {signature}").selector
        ),
        None,
    )


def _is_refused(call: HookCall, *, is_whole_enough: bool) -> bool:
    assert call.plan is not None and call.chain is not None
    try:
        with pytest.MonkeyPatch.context() as patch:
            # Whatever the plan says: the whole hook asks every engine of what one lets pass.
            patch.setattr(simulator, "choose_setting", lambda _: EngineSetting.RPC)
            _, rehearsed = rehearse_whole(call, call.plan, call.chain, risk_tier=RiskTier.STANDARD)
        if rehearsed.refusal is not None or is_whole_enough:
            return rehearsed.refusal is not None
        return isinstance(Simulator().check(call), Reject)
    except GolemError:
        return True
