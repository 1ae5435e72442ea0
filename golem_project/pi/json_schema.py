"""Reads JSON Schemas by name: each keyword that the product reads is one attribute of `SchemaReader`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from golem_project.pi.json_members import Member, nothing

Schema = dict[str, Any]  # Any: a keyword of JSON Schema holds JSON of any kind
ReadOnlySchema = Mapping[str, Any]  # Any: a keyword of JSON Schema holds JSON of any kind
NULL: Final[Schema] = {"type": "null"}
"""The schema that null alone satisfies."""


@dataclass(frozen=True, slots=True)
class SchemaReader:
    """A schema whose keywords are attributes. A keyword that it does not have is empty, or None where so typed."""

    json: ReadOnlySchema

    kind = Member[str | list[str] | None]("type", nothing)
    properties = Member[dict[str, Schema]]("properties", dict)
    required = Member[list[str]]("required", list)
    any_of = Member[list[Schema]]("anyOf", list)
    one_of = Member[list[Schema]]("oneOf", list)
    all_of = Member[list[Schema]]("allOf", list)
    items = Member[Schema | None]("items", nothing)
    values = Member[list[object]]("enum", list)
    constant = Member[object]("const", nothing)
    default = Member[object]("default", nothing)
    description = Member[str]("description", str)
    minimum = Member[int | float | None]("minimum", nothing)
    maximum = Member[int | float | None]("maximum", nothing)
    definitions = Member[dict[str, Schema]]("$defs", dict)
    _pointer = Member[str]("$ref", str)
    _further = Member[object]("additionalProperties", nothing)

    @property
    def kinds(self) -> list[str]:
        """The types as a list."""
        kind = self.kind
        return [] if kind is None else [kind] if isinstance(kind, str) else list(kind)

    @property
    def is_null(self) -> bool:
        """Whether its only type is null."""
        return self.kind == "null"

    @property
    def is_closed(self) -> bool:
        """Whether an object may have the listed members alone."""
        return self._further is False

    @property
    def variants(self) -> list[ReadOnlySchema]:
        """The alternatives of `anyOf`, or the schema itself where it has none."""
        return [*self.any_of] if "anyOf" in self.json else [self.json]

    @property
    def not_null_variants(self) -> list[Schema]:
        """The alternatives of `anyOf` but null."""
        return [each for each in self.any_of if not SchemaReader(each).is_null]

    @property
    def not_null_values(self) -> list[object]:
        """The values that `enum` lists but null."""
        return [value for value in self.values if value is not None]

    @property
    def reference(self) -> str:
        """The name of the schema that it refers to."""
        return self._pointer.rpartition("/")[2]
