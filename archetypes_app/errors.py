"""Errors of who a golem is."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class GolemHalted(GolemError):
    """The golem was stopped; only its owner can resume it."""

    code = "GOLEM_HALTED"
    http_status = 423
    recovery = Recovery.ASK_OWNER
    title = "This golem is halted"


class PhaseNotMonotone(GolemError):
    """A phase can only get worse by itself."""

    code = "PHASE_NOT_MONOTONE"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "A phase only gets worse by itself; an owner's reset improves it"


class UnknownScope(GolemError):
    """An API key was asked for with a scope that does not exist."""

    code = "UNKNOWN_SCOPE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no such scope"
