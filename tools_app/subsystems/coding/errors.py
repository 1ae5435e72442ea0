"""Defines what a coding tool refuses, each with its own code."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PathRefused(GolemError):
    """The path leads out of the folder, through a link, or to something that is no file."""

    code = "PATH_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This path is not reached"


class FileMissing(GolemError):
    """Nothing is at this path."""

    code = "FILE_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such file"


class FileTooLarge(GolemError):
    """The file, or what would be written, has more bytes than the tool handles."""

    code = "FILE_TOO_LARGE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The file is too large for this tool"


class NotText(GolemError):
    """The file is not UTF-8 text."""

    code = "FILE_NOT_TEXT"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The file is not text"


class EditRefused(GolemError):
    """The text to replace is not there, is there more than once, or would not change."""

    code = "EDIT_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The edit does not say one change"


class FileChanged(GolemError):
    """The file is not what it was when the write was previewed."""

    code = "FILE_CHANGED"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "The file changed since the preview"


class FolderFull(GolemError):
    """The golem's folder on this machine holds more bytes or files than it may, or cannot be measured."""

    code = "FOLDER_FULL"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The golem's folder is full"


class WorkspaceChanged(GolemError):
    """The owner changed where or how the golem works since the preview."""

    code = "WORKSPACE_CHANGED"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "The workspace changed since the preview"


class PatternRefused(GolemError):
    """The pattern is no regular expression that is matched in linear time."""

    code = "PATTERN_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The pattern is not understood"


class CommandsNotFenced(GolemError):
    """This machine cannot fence commands in, so none is run."""

    code = "COMMANDS_NOT_FENCED"
    http_status = 503
    recovery = Recovery.ASK_OWNER
    title = "This machine cannot fence commands in"


class WorkspaceBusy(GolemError):
    """Another write or command of this golem is under way in the same folder."""

    code = "WORKSPACE_BUSY"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the write or command that is under way ends"
    title = "Another write is under way in this workspace"


class RemoteUnavailable(GolemError):
    """The remote machine was not reached, or the connection ended in the middle."""

    code = "REMOTE_UNAVAILABLE"
    http_status = 502
    recovery = Recovery.CHECK_STATE
    title = "The remote machine does not answer"


class HostKeyRefused(GolemError):
    """The remote machine shows another host key than the one its owner entered."""

    code = "HOST_KEY_REFUSED"
    http_status = 502
    recovery = Recovery.ASK_OWNER
    title = "The remote machine is not the one its owner named"


class LoginRefused(GolemError):
    """The remote machine does not take the golem's key."""

    code = "REMOTE_LOGIN_REFUSED"
    http_status = 502
    recovery = Recovery.ASK_OWNER
    title = "The remote machine refuses the golem's key"


class RemoteFilesMissing(GolemError):
    """The remote machine has no SFTP."""

    code = "REMOTE_FILES_UNAVAILABLE"
    http_status = 502
    recovery = Recovery.ASK_OWNER
    title = "The remote machine offers no SFTP"
