"""Defines why a policy cannot become a contract."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class CageNotDeployable(
    GolemError, status=422, recovery=Recovery.ASK_OWNER, title="The policy cannot become a contract like this"
):
    """A valuer, the size of the rules or the chain does not allow it."""
