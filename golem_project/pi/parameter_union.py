"""Joins the parameters of many tools into the one flat, closed schema that a language model is shown.

Providers drop or refuse open maps, so an agent's one tool `preview_action` has the parameters of every action the
golem really has. One name used by several tools is one property: the same schema once, a wider range where only
bounds differ, else the alternatives side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tools_app.toolkit.tooldef import ToolDef

Schema = dict[str, Any]
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
        definitions = tool.schema.get("$defs", {})
        for name, prop in tool.schema["properties"].items():
            found.setdefault(name, []).append((tool.key, inline(prop, definitions)))
    return {name: _unite(uses) for name, uses in found.items()}


def make_nullable(schema: Schema) -> Schema:
    """`schema`, or null."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    kind = schema.get("type")
    if kind is None:
        notes = {name: schema[name] for name in _NOTES if name in schema}
        bare = {name: value for name, value in schema.items() if name not in _NOTES}
        return {"anyOf": [bare, {"type": "null"}], **notes}
    kinds = [kind] if isinstance(kind, str) else list(kind)
    nullable: Schema = {**schema, "type": [*kinds, "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def inline(schema: object, definitions: Mapping[str, Any]) -> Any:
    """`schema` with every `$ref` replaced by what it names, and without titles. Raises UnknownReference."""
    if isinstance(schema, list):
        return [inline(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in definitions:
            raise UnknownReference(name)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return inline({**definitions[name], **rest}, definitions)
    flat = {
        key: {name: inline(sub, definitions) for name, sub in value.items()}
        if key == "properties"
        else inline(value, definitions)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    return flat


def _unite(uses: list[tuple[str, Schema]]) -> Schema:
    variants: list[_Variant] = []
    for label, schema in uses:
        for part in schema.get("anyOf", [schema]):
            bare = {key: value for key, value in part.items() if key not in _NOTES}
            if bare.get("type") != "null":
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
    if one.get("type") != other.get("type") or not isinstance(one.get("type"), str):
        return None
    if set(one) == set(other) == {"type", "enum"}:
        return {**one, "enum": list(dict.fromkeys([*one["enum"], *other["enum"]]))}
    if one["type"] not in ("integer", "number") or not (set(one) | set(other)) <= _BOUNDS:
        return None
    wider: Schema = {"type": one["type"]}
    if "minimum" in one and "minimum" in other:
        wider["minimum"] = min(one["minimum"], other["minimum"])
    if "maximum" in one and "maximum" in other:
        wider["maximum"] = max(one["maximum"], other["maximum"])
    return wider


def _describe(uses: list[tuple[str, Schema]]) -> str:
    """One description if all agree, else each with the keys it belongs to."""
    labels_of: dict[str, list[str]] = {}
    for label, schema in uses:
        text = schema.get("description") or _inner_description(schema)
        if text:
            labels = labels_of.setdefault(text, [])
            if label not in labels:
                labels.append(label)
    if len(labels_of) <= 1:
        return next(iter(labels_of), "")
    return " ".join(f"For {', '.join(labels)}: {text}" for text, labels in labels_of.items())


def _inner_description(schema: Schema) -> str:
    texts = [part["description"] for part in schema.get("anyOf", []) if part.get("description")]
    if not texts and isinstance(schema.get("items"), dict) and schema["items"].get("description"):
        texts = [f"A list. {schema['items']['description']}"]
    return " ".join(dict.fromkeys(texts or [t for part in schema.get("anyOf", []) if (t := _inner_description(part))]))
