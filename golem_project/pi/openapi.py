"""The documented schema of the agent API: Idempotency-Key stands at every POST that honours it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from archetypes_app.models.api_key import Scope
from golem_project.pi.idempotency import HEADER, IdempotentView

IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description=(
        "1 to 200 visible ASCII characters of your own choice. A repeat with the same key and body gets the first"
        " answer again for 24 hours; with another body 422, while the first still runs 409. Keys are per API key."
    ),
)


class AgentSchema(AutoSchema):
    """What drf-spectacular finds, and the header of idempotent requests."""

    def get_override_parameters(self) -> list[Any]:
        """The header at every POST whose scope allows an effect."""
        found = list(super().get_override_parameters())
        scope = getattr(self.view, "required_scope", None)
        if self.method == "POST" and isinstance(self.view, IdempotentView) and scope not in (None, Scope.READ):
            found.append(IDEMPOTENCY_KEY)
        return found
