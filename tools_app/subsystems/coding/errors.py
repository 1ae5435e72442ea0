"""Defines what a coding tool refuses, each with its own code."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PathRefused(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="This path is not reached"):
    """The path leads out of the folder, through a link, or to something that is no file."""


class FileMissing(
    GolemError, code="FILE_NOT_FOUND", status=404, recovery=Recovery.FIX_PARAMS, title="There is no such file"
):
    """Nothing is at this path."""


class FileTooLarge(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The file is too large for this tool"):
    """The file, or what would be written, has more bytes than the tool handles."""


class NotText(GolemError, code="FILE_NOT_TEXT", status=422, recovery=Recovery.FIX_PARAMS, title="The file is not text"):
    """The file is not UTF-8 text."""


class EditRefused(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The edit does not say one change"):
    """The text to replace is not there, is there more than once, or would not change."""


class FileChanged(GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="The file changed since the preview"):
    """The file is not what it was when the write was previewed."""


class FolderFull(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The golem's folder is full"):
    """The golem's folder on this machine holds more bytes or files than it may, or cannot be measured."""


class WorkspaceChanged(
    GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="The workspace changed since the preview"
):
    """The owner changed where or how the golem works since the preview."""


class PatternRefused(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The pattern is not understood"):
    """The pattern is no regular expression that is matched in linear time."""


class CommandsNotFenced(
    GolemError, status=503, recovery=Recovery.ASK_OWNER, title="This machine cannot fence commands in"
):
    """This machine cannot fence commands in, so none is run."""


class WorkspaceBusy(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="Another write is under way in this workspace",
    cleared_by="the write or command that is under way ends",
):
    """Another write or command of this golem is under way in the same folder."""


class RemoteUnavailable(
    GolemError, status=502, recovery=Recovery.CHECK_STATE, title="The remote machine does not answer"
):
    """The remote machine was not reached, or the connection ended in the middle."""


class HostKeyRefused(
    GolemError, status=502, recovery=Recovery.ASK_OWNER, title="The remote machine is not the one its owner named"
):
    """The remote machine shows another host key than the one its owner entered."""


class LoginRefused(
    GolemError,
    code="REMOTE_LOGIN_REFUSED",
    status=502,
    recovery=Recovery.ASK_OWNER,
    title="The remote machine refuses the golem's key",
):
    """The remote machine does not take the golem's key."""


class RemoteFilesMissing(
    GolemError,
    code="REMOTE_FILES_UNAVAILABLE",
    status=502,
    recovery=Recovery.ASK_OWNER,
    title="The remote machine offers no SFTP",
):
    """The remote machine has no SFTP."""
