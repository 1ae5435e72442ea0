"""Requests to owners."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from permits_app.actions.request_change import request_operation
from permits_app.models import ChangeRequest
from tools_app.core import clock


def make_change_request(
    *, golem: Golem, owner: Any = None, to: str = "CAUTIOUS", now: datetime | None = None
) -> ChangeRequest:
    """An owner asks for another phase."""
    return request_operation(
        golem=golem,
        name="phase",
        arguments={"to": to},
        owner=owner or golem.owner,
        reason="for a test",
        now=now or clock.now(),
    )
