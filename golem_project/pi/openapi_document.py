"""Reads an OpenAPI document by name: its operations, what each takes and answers, and its shared parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from golem_project.pi.json_members import Member, nothing
from golem_project.pi.json_schema import ReadOnlySchema, Schema, SchemaReader

Document = dict[str, Any]  # Any: a document of OpenAPI is JSON, whose parts are read below
ReadOnlyDocument = Mapping[str, Any]  # Any: a document of OpenAPI is JSON, whose parts are read below
JSON_MEDIA: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A header, a query or a part of the path that an operation takes."""

    json: ReadOnlySchema

    name = Member[str]("name", str)
    place = Member[str]("in", str)
    is_required = Member[bool]("required", bool)
    schema = Member[Schema]("schema", dict)


@dataclass(frozen=True, slots=True)
class Payload:
    """A request body, an answer, or the content of one media type of either."""

    json: ReadOnlySchema

    content = Member[dict[str, Schema]]("content", dict)
    schema = Member[Schema]("schema", dict)


@dataclass(frozen=True, slots=True)
class PathOperation:
    """One method of a path. `json` is its part of the document, and changes with it."""

    method: str
    path: str
    json: Schema

    id = Member[str]("operationId", str)
    parameters = Member[list[Schema]]("parameters", list)
    body = Member[Schema | None]("requestBody", nothing)
    responses = Member[dict[str, Schema]]("responses", dict)
    _summary = Member[str]("summary", str)

    @property
    def summary(self) -> str:
        """Its words in one line, its name where it has none."""
        return self._summary or self.id

    @property
    def bodies(self) -> dict[str, Schema]:
        """The content of its request body by media type."""
        return Payload(self.body or {}).content


@dataclass(frozen=True, slots=True)
class _Components:
    json: ReadOnlySchema

    schemas = Member[dict[str, Schema]]("schemas", dict)
    parameters = Member[dict[str, Schema]]("parameters", dict)


@dataclass(frozen=True, slots=True)
class OpenApi:
    """A whole document. `json` is changed by who changes what this hands out."""

    json: ReadOnlyDocument

    components = Member[dict[str, Schema]]("components", dict)
    paths = Member[dict[str, Schema]]("paths", dict)

    @property
    def schemas(self) -> dict[str, Schema]:
        """The shared schemas by name."""
        return _Components(self.components).schemas

    def list_operations(self) -> Iterator[PathOperation]:
        """Each operation, in the order of the document."""
        for path, item in self.paths.items():
            for method, operation in item.items():
                if isinstance(operation, dict):
                    yield PathOperation(method, path, operation)

    def list_parameters(self, operation: PathOperation) -> list[Parameter]:
        """What the operation takes beside its body, with what it refers to."""
        shared = _Components(self.components).parameters
        return [Parameter(follow(each, shared)) for each in operation.parameters]

    def follow(self, schema: ReadOnlySchema) -> ReadOnlySchema:
        """The schema that a reference names, as far as references lead."""
        return follow(schema, self.schemas)


def follow(schema: ReadOnlySchema, schemas: Mapping[str, ReadOnlySchema]) -> ReadOnlySchema:
    """What a reference into `schemas` names, as far as references lead. Raises KeyError for one that leads nowhere."""
    while "$ref" in schema:
        schema = schemas[SchemaReader(schema).reference]
    return schema
