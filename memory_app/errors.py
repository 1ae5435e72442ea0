"""Errors of memory. None of them may fail a preview: callers on that path go on without memory."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class EmbeddingUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The embedding model is not available",
    cleared_by="the embedding model can be loaded",
):
    """The embedding model is missing, damaged or cannot run in this process; text search still works."""


class MemoryOwnerUnknown(
    GolemError, status=404, recovery=Recovery.GIVE_UP, title="There is no such golem to remember this"
):
    """The golem a memory was meant for does not exist (any more)."""


class DirectiveTooLarge(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The directive is too large"):
    """A section or a whole document is longer than a directive may be."""


class InsightNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such insight"):
    """The golem has no such insight; another golem's insights are unknown to it too."""


class VectorRefused(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="This is no vector of this memory"):
    """A vector that cannot be compared: wrong dimensions, a number that is none, or all zeros."""


class EpisodeNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such episode"):
    """The golem has no such episode; another golem's episodes are unknown to it too."""


class ExecutionNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such execution"):
    """The golem recorded no such execution."""


class ExecutionAlreadyRecorded(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="This execution was recorded before"
):
    """The execution, or its outcome, was recorded before with other content; a record is written once."""


class GrimoireFileRefused(
    GolemError, status=422, recovery=Recovery.ASK_OWNER, title="The archive of memory is refused"
):
    """An archive of memory is missing, damaged, changed, too large or signed by nobody this server trusts."""
