"""Why a backup or a restore cannot be done."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class BackupFailed(GolemError):
    """A backup cannot be made as asked for."""

    code = "BACKUP_FAILED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The backup cannot be made"


class RestoreRefused(GolemError):
    """A backup cannot be restored here; nothing was changed."""

    code = "RESTORE_REFUSED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The backup cannot be restored here"
