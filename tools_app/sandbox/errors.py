"""Defines what can go wrong with a module: it was refused, it failed, or it broke a limit."""

from __future__ import annotations

from enum import StrEnum

from tools_app.core.errors import GolemError, Recovery


class ModuleRefused(GolemError, status=422, recovery=Recovery.ASK_OWNER, title="This module is not run here"):
    """The bytes are no module this server would run: too large, too slow to compile, or other imports than ours."""


class ModuleFailed(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The module did not answer"):
    """The module answered that it could not do it, trapped, or answered something that is no answer."""


class ModuleLimit(StrEnum):
    """What a module may use up."""

    FUEL = "fuel"
    TIME = "time"
    MEMORY = "memory"
    STACK = "stack"
    ANSWER = "answer"
    CALLS = "calls"


class ModuleOverLimit(
    GolemError, status=422, recovery=Recovery.ASK_OWNER, title="The module used up what one call may"
):
    """The module used up what one call may: instructions, time, memory, stack, calls of the host, or its answer."""
