"""The documented schema of the agent API: Idempotency-Key stands at every POST that honours it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiParameter
from rest_framework.serializers import Serializer

from archetypes_app.models.api_key import Scope
from golem_project.pi.idempotency import HEADER, LONGEST_KEY, IdempotentView
from golem_project.pi.json_schema import SchemaReader
from golem_project.pi.strict_fields import UUID_TEXT

Override = OpenApiParameter | Serializer[Any] | type[Serializer[Any]]  # Any: as the library has it
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description=(
        "Your own choice. A repeat with the same key and body gets the first answer again for 24 hours; with another"
        " body 422, while the first still runs 409."
    ),
)


class AgentSchema(AutoSchema):
    """What drf-spectacular finds, and the header of idempotent requests."""

    def get_override_parameters(self) -> list[Override]:
        """The header at every POST whose scope allows an effect."""
        found = list(super().get_override_parameters())
        scope = getattr(self.view, "required_scope", None)
        if self.method == "POST" and isinstance(self.view, IdempotentView) and scope not in (None, Scope.READ):
            found.append(IDEMPOTENCY_KEY)
        return found


class ClosedBody(OpenApiSerializerExtension):
    """A body that refuses unknown fields says so."""

    target_class = "golem_project.pi.serializers.StrictInput"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, object]:
        """The usual schema, closed."""
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        if type(self.target).__doc__ is None:
            # What every closed body inherits is said by the next line.
            schema.pop("description", None)
        return {**schema, "additionalProperties": {"type": "null"} if self.target.drops_nulls else False}


class OpenBody(OpenApiSerializerExtension):
    """A body whose further fields are a tool's parameters."""

    target_class = "golem_project.pi.serializers.ReadInput"

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, object]:
        """The usual schema, open."""
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**schema, "additionalProperties": {"description": "A parameter of the read."}}


class TextThatSaysSomething(OpenApiSerializerFieldExtension):
    """What `StrictText` and its kinds want of a text, besides its length."""

    target_class = "golem_project.pi.strict_fields.StrictText"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, object]:
        """The usual schema, not empty and of the field's pattern."""
        schema = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        if isinstance(kinds := SchemaReader(schema).kind, list):
            # Whoever asked for this mapping adds null to it.
            schema |= {"type": next(kind for kind in kinds if kind != "null")}
        return {**schema, "minLength": 1, "pattern": self.target.pattern}


class WrittenUuid(OpenApiSerializerFieldExtension):
    """A UUID in its one usual form."""

    target_class = "golem_project.pi.strict_fields.PermitId"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, object]:
        """The usual schema, with its pattern."""
        schema = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        return {**schema, "pattern": UUID_TEXT}
