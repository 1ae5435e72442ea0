"""Counts what one call of a module has used, and ends it at its limits.

A refusal must not leave a host function as a Python exception: wasmtime keeps such a one for the whole process, where
another thread's call could be handed it. So it is kept here, and the module is stopped by an error of wasmtime's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from wasmtime import Store, WasmtimeError

from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded, GolemError
from tools_app.sandbox.errors import ModuleLimit, ModuleOverLimit
from tools_app.sandbox.interface import FUEL_OF_BYTE, FUEL_OF_CALL, HostFunction
from tools_app.sandbox.limits import CallLimits


@dataclass
class HostMeter:
    """One call's use of the host. `ended_by` is what stopped it, when the host did."""

    store: Store
    limits: CallLimits
    deadline: Deadline
    calls: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    ended_by: GolemError | None = None

    def begin(self, function: HostFunction, text: str) -> None:
        """Charge for a call of `function` with `text`. Raises WasmtimeError, which ends the module."""
        self.calls[str(function)] += 1
        if self.calls.total() > self.limits.host_calls:
            self.end(over(ModuleLimit.CALLS, f"more than {self.limits.host_calls} calls of the host"))
        self.charge(FUEL_OF_CALL[function], text)
        if self.deadline.is_over:
            self.end(BudgetExceeded("the module called the host when its time was over"))

    def charge(self, fuel: int, text: str) -> None:
        """Take fuel for a text that crosses over. Raises WasmtimeError when there is not enough."""
        size = len(text.encode(errors="replace"))
        if size > self.limits.host_bytes:
            self.end(over(ModuleLimit.ANSWER, f"a text of {size} bytes; at most {self.limits.host_bytes} cross over"))
        left = self.store.get_fuel() - fuel - size * FUEL_OF_BYTE
        self.store.set_fuel(max(0, left))
        if left < 0:
            self.end(over(ModuleLimit.FUEL, "what the host did for it used up its fuel"))

    def end(self, error: GolemError) -> Any:  # Any: JSON that a module or host tells
        """Stop the module for `error`. Raises WasmtimeError."""
        self.ended_by = self.ended_by or error
        raise WasmtimeError("the host ended this call")


def over(limit: ModuleLimit, words: str) -> ModuleOverLimit:
    """The error of a call that used up `limit`."""
    return ModuleOverLimit(f"the module used up its {limit.value}: {words}", limit=limit.value)
