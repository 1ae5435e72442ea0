"""The seven hooks in order. A hook that raises rejects; the first refusal ends the chain.

At preview all of 1 to 6 run; at commit 1 to 4 and 6, and 5 when the block moved; 7 filters what goes back.

See docs/decisions/0001-safety-hooks-the-simulation-is-the-fifth-of-seven.md.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from permits_app.errors import PolicyRejected
from permits_app.hook_rejection import Reject
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hook import Allow, AllowModified, HookCall, SafetyHook, Verdict
from permits_app.safety.hook_inputs_json import encode_facts
from permits_app.safety.hooks.allowlist_guard import AllowlistGuard
from permits_app.safety.hooks.hallucination_detector import HallucinationDetector
from permits_app.safety.hooks.policy_cage import CageReads, CageRows, PolicyCageHook, load_holdings, load_rows
from permits_app.safety.hooks.rate_limiter import RateFacts, RateLimiter
from permits_app.safety.hooks.rate_limiter import load_facts as load_rate_facts
from permits_app.safety.hooks.result_filter import ResultFilter
from permits_app.safety.hooks.simulator import Simulator
from permits_app.safety.hooks.spending_limiter import SpendFacts, SpendingLimiter
from permits_app.safety.hooks.spending_limiter import load_facts as load_spend_facts
from permits_app.safety.load_call_records import RecordReader
from tools_app.chain.running_code import RunningCode
from tools_app.core import clock, trace_spans
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.simulation.engine import SimulationResult

logger = logging.getLogger(__name__)

HOOK_BUDGET_MS = 15_000
"""A hook that answers later than this refuses: what it looked at is not true any more."""

POLICY_CAGE = PolicyCageHook()
ALLOWLIST_GUARD = AllowlistGuard()
SPENDING_LIMITER = SpendingLimiter()
RATE_LIMITER = RateLimiter()
SIMULATOR = Simulator()
HALLUCINATION_DETECTOR = HallucinationDetector()
RESULT_FILTER = ResultFilter()

SAFETY_HOOKS: tuple[str, ...] = (
    POLICY_CAGE.name,
    ALLOWLIST_GUARD.name,
    SPENDING_LIMITER.name,
    RATE_LIMITER.name,
    SIMULATOR.name,
    HALLUCINATION_DETECTOR.name,
    RESULT_FILTER.name,
)

_BEFORE_SIMULATION: tuple[SafetyHook, ...] = (POLICY_CAGE, ALLOWLIST_GUARD, SPENDING_LIMITER, RATE_LIMITER)


@dataclass(frozen=True, slots=True)
class HookReport:
    """What the chain decided: each hook's note, the simulation, and changed parameters if a hook asked for them.

    `gas` is the budget the simulation ran within: its limits are what is signed.
    `facts` is what hooks 1 to 4 looked at, as the row of the decision keeps it; `bound` the code that hook 6 found.
    """

    decisions: tuple[JsonObject, ...]
    simulation: SimulationResult | None
    modified_params: Mapping[str, object] | None = None
    gas: GasBudget | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    bound: RunningCode | None = None


def run(call: HookCall, *, may_modify: bool = True) -> HookReport:
    """Run hooks 1 to 6 for a preview. Raises PolicyRejected, or the error a hook names; stops at AllowModified.

    Without `may_modify` (the call was modified once already) a hook that asks for yet other parameters refuses.
    """
    return _run((*_BEFORE_SIMULATION, SIMULATOR, HALLUCINATION_DETECTOR), call, may_modify=may_modify)


def recheck(call: HookCall, *, simulate: bool) -> HookReport:
    """Run hooks 1 to 4 and 6 for a commit, and 5 in its place when the block moved. Raises as `run`."""
    hooks: list[SafetyHook] = [*_BEFORE_SIMULATION]
    if simulate:
        hooks.append(SIMULATOR)
    hooks.append(HALLUCINATION_DETECTOR)
    return _run(hooks, call, may_modify=False)


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """Everything hooks 1 to 4 read, as one value."""

    rows: CageRows
    holdings: CageReads | None
    spend: SpendFacts
    rate: RateFacts


def load_rules(call: HookCall) -> LoadedRules:
    """Read what hooks 1 to 4 judge, from the database and the chain."""
    call = replace(call, records=RecordReader(call))
    holdings = load_holdings(call) if call.plan is not None else None
    return LoadedRules(load_rows(call), holdings, load_spend_facts(call), load_rate_facts(call))


def decide(call: HookCall, loaded: LoadedRules) -> Verdict:
    """What hooks 1 to 4 answer to `call` given what was loaded: the same rules, without reading anything."""
    wrapped = loaded.holdings.wrapped_native if loaded.holdings is not None else None
    verdict: Verdict = POLICY_CAGE.decide(call, loaded.rows, loaded.holdings)
    if isinstance(verdict, Allow):
        verdict = ALLOWLIST_GUARD.decide(call, wrapped)
    if isinstance(verdict, Allow):
        verdict = SPENDING_LIMITER.decide(call, loaded.spend)
    if isinstance(verdict, Allow):
        verdict = RATE_LIMITER.decide(call, loaded.rate)
    return verdict


def _run(hooks: Sequence[SafetyHook], call: HookCall, *, may_modify: bool) -> HookReport:
    decisions: list[JsonObject] = []
    gas: GasBudget | None = None
    bound: RunningCode | None = None
    # Hooks read lazily and share what was read, so that all of them judge the same moment.
    if call.records is None:
        call = replace(call, records=RecordReader(call))
    for hook in hooks:
        started_ms = clock.monotonic_ms()
        verdict = _ask(hook, call)
        took_ms = round(clock.monotonic_ms() - started_ms, 1)
        if isinstance(verdict, Reject):
            raise verdict.as_error(hook.name)
        if took_ms > HOOK_BUDGET_MS:
            raise _refuse(
                hook.name,
                "too_slow",
                "answered too late and therefore refuses",
                observed=f"{took_ms} ms",
                limit=f"{HOOK_BUDGET_MS} ms",
                recovery=Recovery.PREVIEW_AGAIN,
            )
        if isinstance(verdict, AllowModified) and not may_modify:
            raise _refuse(hook.name, "modified_twice", "asks for other parameters than those that were simulated")
        decisions.append({"hook": hook.name, "decision": type(verdict).__name__, "note": verdict.note, "ms": took_ms})
        if isinstance(verdict, AllowModified):
            return HookReport(tuple(decisions), call.simulation, verdict.params)
        if verdict.simulation is not None:
            call, gas = replace(call, simulation=verdict.simulation), verdict.gas
        bound = verdict.bound or bound
    return HookReport(tuple(decisions), call.simulation, gas=gas, facts=encode_facts(call), bound=bound)


def _ask(hook: SafetyHook, call: HookCall) -> Verdict:
    try:
        with trace_spans.step(f"hook {hook.name}"):
            verdict = hook.check(call)
    except GolemError:
        raise
    except Exception as error:
        logger.exception("safety hook %s raised", hook.name)
        raise _refuse(hook.name, "failed", "failed and therefore refuses") from error
    # mypy knows this cannot be; a hook that was patched, or written without types, does not.
    if not isinstance(verdict, Allow | AllowModified | Reject):
        logger.error("safety hook %s answered a %s", hook.name, type(verdict).__name__)
        raise _refuse(hook.name, "no_verdict", "gave no verdict and therefore refuses")
    return verdict


def _refuse(hook: str, rule: str, words: str, **figures: Any) -> PolicyRejected:  # Any: figures of any kind
    return PolicyRejected(f"the {hook} hook {words}", hook=hook, rule=f"{hook}.{rule}", **figures)


__all__ = [
    "HOOK_BUDGET_MS",
    "SAFETY_HOOKS",
    "Allow",
    "HookReport",
    "LoadedRules",
    "decide",
    "load_rules",
    "recheck",
    "run",
]
