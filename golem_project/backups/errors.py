"""Why a backup or a restore cannot be done."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class BackupFailed(GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="The backup cannot be made"):
    """A backup cannot be made as asked for."""


class RestoreRefused(GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="The backup cannot be restored here"):
    """A backup cannot be restored here; nothing was changed."""
