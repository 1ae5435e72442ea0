"""Joins the parameters of many tools into the one flat, closed schema that a language model is shown.

Providers drop or refuse open maps, so an agent's one tool `preview_action` has the parameters of every action the
golem really has. One name used by several tools is one property: the same schema once, a wider range where only
bounds differ, else the alternatives side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from golem_project.pi.json_schema import NULL, ReadOnlySchema, Schema, SchemaReader
from tools_app.toolkit.tooldef import ToolDef

_NOTES = ("description", "default", "title", "examples")
_BOUNDS = frozenset({"type", "minimum", "maximum"})


class UnknownReference(Exception):
    """A tool's schema refers to a definition it does not carry."""


@dataclass(frozen=True, slots=True)
class _Variant:
    """One way to write a parameter, and the keys (action types or queries) that take it so."""

    schema: Schema
    labels: tuple[str, ...]


def unite_parameters(tools: Iterable[ToolDef], *, own: Mapping[str, Schema] | None = None) -> dict[str, Schema]:
    """One property per parameter name, in order of first appearance; each says which keys mean what by it.

    `own` are properties of the Pi tool itself, which its tools' parameters may share.
    """
    found: dict[str, list[tuple[str, Schema]]] = {name: [("a search", prop)] for name, prop in (own or {}).items()}
    for tool in tools:
        schema = SchemaReader(tool.schema)
        for name, prop in schema.properties.items():
            found.setdefault(name, []).append((tool.key, inline_schema(prop, schema.definitions)))
    return {name: _unite(uses) for name, uses in found.items()}


def make_nullable(schema: Schema) -> Schema:
    """`schema`, or null."""
    read = SchemaReader(schema)
    if "anyOf" in schema:
        return {**schema, "anyOf": [*read.any_of, NULL]}
    if read.kind is None:
        notes = {name: schema[name] for name in _NOTES if name in schema}
        bare = {name: value for name, value in schema.items() if name not in _NOTES}
        return {"anyOf": [bare, NULL], **notes}
    listed = {"enum": [*read.values, None]} if "enum" in schema else {}
    return {**schema, "type": [*read.kinds, "null"], **listed}


def inline(part: object, definitions: Mapping[str, ReadOnlySchema]) -> object:
    """`part` of a schema with every `$ref` replaced by what it names, without titles. Raises UnknownReference."""
    if isinstance(part, list):
        return [inline(item, definitions) for item in part]
    return inline_schema(part, definitions) if isinstance(part, dict) else part


def inline_schema(schema: ReadOnlySchema, definitions: Mapping[str, ReadOnlySchema]) -> Schema:
    """`schema` with every `$ref` replaced by what it names, and without titles. Raises UnknownReference."""
    if "$ref" in schema:
        name = SchemaReader(schema).reference
        if name not in definitions:
            raise UnknownReference(name)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return inline_schema({**definitions[name], **rest}, definitions)
    return {
        key: {name: inline(sub, definitions) for name, sub in value.items()}
        if key == "properties"
        else inline(value, definitions)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


def _unite(uses: list[tuple[str, Schema]]) -> Schema:
    variants: list[_Variant] = []
    for label, schema in uses:
        for part in SchemaReader(schema).variants:
            bare = {key: value for key, value in part.items() if key not in _NOTES}
            if not SchemaReader(bare).is_null:
                variants = _add(variants, bare, label)
    united: Schema = dict(variants[0].schema) if len(variants) == 1 else {"anyOf": [v.schema for v in variants]}
    text = _describe(uses)
    return {**united, "description": text} if text else united


def _add(variants: list[_Variant], schema: Schema, label: str) -> list[_Variant]:
    """`variants` with one more, folded into an equal one or one that differs only in bounds or values."""
    for index, known in enumerate(variants):
        wider = schema if known.schema == schema else _widen(known.schema, schema)
        if wider is not None:
            folded = _Variant(wider, tuple(dict.fromkeys((*known.labels, label))))
            return [*variants[:index], folded, *variants[index + 1 :]]
    return [*variants, _Variant(schema, (label,))]


def _widen(one: Schema, other: Schema) -> Schema | None:
    """What both fit into, when they are of one type and differ only in their range or their listed values."""
    first, second = SchemaReader(one), SchemaReader(other)
    if first.kind != second.kind or not isinstance(first.kind, str):
        return None
    if set(one) == set(other) == {"type", "enum"}:
        return {**one, "enum": list(dict.fromkeys([*first.values, *second.values]))}
    if first.kind not in ("integer", "number") or not (set(one) | set(other)) <= _BOUNDS:
        return None
    wider: Schema = {"type": first.kind}
    if first.minimum is not None and second.minimum is not None:
        wider |= {"minimum": min(first.minimum, second.minimum)}
    if first.maximum is not None and second.maximum is not None:
        wider |= {"maximum": max(first.maximum, second.maximum)}
    return wider


def _describe(uses: list[tuple[str, Schema]]) -> str:
    """One description if all agree, else each with the keys it belongs to."""
    labels_of: dict[str, list[str]] = {}
    for label, schema in uses:
        text = SchemaReader(schema).description or _inner_description(schema)
        if text:
            labels = labels_of.setdefault(text, [])
            if label not in labels:
                labels.append(label)
    if len(labels_of) <= 1:
        return next(iter(labels_of), "")
    return " ".join(f"For {', '.join(labels)}: {text}" for text, labels in labels_of.items())


def _inner_description(schema: Schema) -> str:
    read = SchemaReader(schema)
    texts = [text for part in read.any_of if (text := SchemaReader(part).description)]
    if not texts and read.items is not None and (text := SchemaReader(read.items).description):
        texts = [f"A list. {text}"]
    return " ".join(dict.fromkeys(texts or [text for part in read.any_of if (text := _inner_description(part))]))
