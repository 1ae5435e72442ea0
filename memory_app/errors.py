"""Errors of memory. None of them may fail a preview: callers on that path go on without memory."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class EmbeddingUnavailable(GolemError):
    """The embedding model is missing, damaged or cannot run in this process; text search still works."""

    code = "EMBEDDING_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the embedding model can be loaded"
    title = "The embedding model is not available"


class MemoryOwnerUnknown(GolemError):
    """The golem a memory was meant for does not exist (any more)."""

    code = "MEMORY_OWNER_UNKNOWN"
    http_status = 404
    recovery = Recovery.GIVE_UP
    title = "There is no such golem to remember this"


class DirectiveTooLarge(GolemError):
    """A section or a whole document is longer than a directive may be."""

    code = "DIRECTIVE_TOO_LARGE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The directive is too large"


class InsightNotFound(GolemError):
    """The golem has no such insight; another golem's insights are unknown to it too."""

    code = "INSIGHT_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such insight"


class VectorRefused(GolemError):
    """A vector that cannot be compared: wrong dimensions, a number that is none, or all zeros."""

    code = "VECTOR_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This is no vector of this memory"


class EpisodeNotFound(GolemError):
    """The golem has no such episode; another golem's episodes are unknown to it too."""

    code = "EPISODE_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such episode"


class ExecutionNotFound(GolemError):
    """The golem recorded no such execution."""

    code = "EXECUTION_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such execution"


class ExecutionAlreadyRecorded(GolemError):
    """The execution, or its outcome, was recorded before with other content; a record is written once."""

    code = "EXECUTION_ALREADY_RECORDED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "This execution was recorded before"


class GrimoireFileRefused(GolemError):
    """An archive of memory is missing, damaged, changed, too large or signed by nobody this server trusts."""

    code = "GRIMOIRE_FILE_REFUSED"
    http_status = 422
    recovery = Recovery.ASK_OWNER
    title = "The archive of memory is refused"
