"""The seven hooks in order. A hook that raises rejects; the first refusal ends the chain.

At preview all of 1 to 6 run; at commit 1 to 4 and 6, and 5 when the block moved; 7 filters what goes back.
Seed: 002, "Default hook chain order"; decision 0001.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from permits_app.errors import PolicyRejected
from permits_app.safety.hook import Allow, AllowModified, HookCall, Reject, SafetyHook, Verdict
from permits_app.safety.hooks.allowlist_guard import AllowlistGuard
from permits_app.safety.hooks.hallucination_detector import HallucinationDetector
from permits_app.safety.hooks.policy_cage import PolicyCageHook
from permits_app.safety.hooks.rate_limiter import RateLimiter
from permits_app.safety.hooks.result_filter import ResultFilter
from permits_app.safety.hooks.simulator import Simulator
from permits_app.safety.hooks.spending_limiter import SpendingLimiter
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.simulation.engine import SimulationResult

logger = logging.getLogger(__name__)

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
    """What the chain decided: each hook's note, the simulation, and changed parameters if a hook asked for them."""

    decisions: tuple[dict[str, Any], ...]
    simulation: SimulationResult | None
    modified_params: Mapping[str, Any] | None = None


def run(call: HookCall) -> HookReport:
    """Run hooks 1 to 6 for a preview. Raises PolicyRejected, or the error a hook names; stops at AllowModified."""
    return _run((*_BEFORE_SIMULATION, SIMULATOR, HALLUCINATION_DETECTOR), call)


def recheck(call: HookCall, *, simulate: bool) -> HookReport:
    """Run hooks 1 to 4 and 6 for a commit, and 5 in its place when the block moved. Raises as `run`."""
    hooks: list[SafetyHook] = [*_BEFORE_SIMULATION]
    if simulate:
        hooks.append(SIMULATOR)
    hooks.append(HALLUCINATION_DETECTOR)
    report = _run(hooks, call)
    if report.modified_params is not None:
        raise PolicyRejected("a hook wants other parameters than the permit holds", hook="chain", rule="chain.modified")
    return report


def _run(hooks: Sequence[SafetyHook], call: HookCall) -> HookReport:
    decisions: list[dict[str, Any]] = []
    for hook in hooks:
        started_ms = clock.monotonic_ms()
        verdict = _ask(hook, call)
        took_ms = round(clock.monotonic_ms() - started_ms, 1)
        if isinstance(verdict, Reject):
            raise verdict.as_error(hook.name)
        decisions.append({"hook": hook.name, "decision": type(verdict).__name__, "note": verdict.note, "ms": took_ms})
        if isinstance(verdict, AllowModified):
            return HookReport(tuple(decisions), call.simulation, verdict.params)
        if verdict.simulation is not None:
            call = replace(call, simulation=verdict.simulation)
    return HookReport(tuple(decisions), call.simulation)


def _ask(hook: SafetyHook, call: HookCall) -> Verdict:
    try:
        return hook.check(call)
    except GolemError:
        raise
    except Exception as error:
        logger.exception("safety hook %s raised", hook.name)
        raise PolicyRejected(
            f"the {hook.name} hook failed and therefore refuses",
            hook=hook.name,
            rule=f"{hook.name}.failed",
        ) from error


__all__ = ["SAFETY_HOOKS", "Allow", "HookReport", "recheck", "run"]
