"""Defines what can go wrong in a conversation between an owner and a golem."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ChatBusy(GolemError):
    """The golem answers one message at a time."""

    code = "CHAT_BUSY"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the answer that is under way, or its end by its owner"
    title = "The golem is still answering"


class ChatAbandoned(GolemError):
    """The worker that answered stopped, or none took the message up in its time."""

    code = "CHAT_ABANDONED"
    http_status = 504
    recovery = Recovery.WAIT
    cleared_by = "the same words said again"
    title = "The answer was never finished"
