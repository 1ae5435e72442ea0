"""Defines what can go wrong in a conversation between an owner and a golem."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ChatBusy(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The golem is still answering",
    cleared_by="the answer that is under way, or its end by its owner",
):
    """The golem answers one message at a time."""


class ChatAbandoned(
    GolemError,
    status=504,
    recovery=Recovery.WAIT,
    title="The answer was never finished",
    cleared_by="the same words said again",
):
    """The worker that answered stopped, or none took the message up in its time."""
