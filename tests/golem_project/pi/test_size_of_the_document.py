"""The OpenAPI document stays small: what stands in several places stands once; a body is found by its word."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from archetypes_app.browse_and_load_tools import TIER_QUERIES
from permits_app.actions.query import OWN_QUERIES
from tools_app.toolkit.registry import REGISTRY

DOCUMENT = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
MOST_BYTES = 250_000
ROOM = 5_000
"""What the document may weigh, and how much of it stays free for what is built next."""


def test_the_document_is_small_and_finds_a_body_by_its_word() -> None:
    weighed = len(json.dumps(DOCUMENT, separators=(",", ":")))
    assert weighed < MOST_BYTES - ROOM
    for tool, word in (("preview_action", "action_type"), ("query_state", "query")):
        body = DOCUMENT["paths"][f"/api/v1/pi/{tool}"]["post"]["requestBody"]
        schema = body["content"]["application/json"]["schema"]
        found = schema["discriminator"]
        assert found["propertyName"] == word
        listed = {each["$ref"].rpartition("/")[2] for each in schema["anyOf"]}
        assert {each.rpartition("/")[2] for each in found["mapping"].values()} < listed
        assert set(found["mapping"]) == {
            *(each.key for each in REGISTRY if each.pi_tool.value == tool),
            *((*(own.key for own in OWN_QUERIES), *(tier.key for tier in TIER_QUERIES)) if word == "query" else ()),
        }
    posts = [item["post"] for item in DOCUMENT["paths"].values() if "post" in item]
    assert [each["operationId"] for each in posts if not each["requestBody"].get("required")] == []


def test_what_stands_in_several_places_of_the_document_stands_there_once_and_is_there() -> None:
    places = {f"#/components/{kind}/{name}" for kind, parts in DOCUMENT["components"].items() for name in parts}
    references, parameters = [], Counter[str]()
    for part in walk(DOCUMENT):
        references += [part["$ref"]] if isinstance(part.get("$ref"), str) else []
        parameters.update(json.dumps(each) for each in part.get("parameters", ()) if "$ref" not in each)
    assert {each for each in references if each not in places} == set()
    assert {place for place in places if "/schemas/" in place} - set(references) == set()
    assert [text for text, times in parameters.items() if times > 1] == []
    written = Counter(
        json.dumps(part, sort_keys=True)
        for part in walk(DOCUMENT["components"]["schemas"])
        if {"pattern", "type", "description"} <= set(part)
    )
    assert [text for text, times in written.items() if times > 3] == []


def walk(part: Any) -> Iterator[dict[str, Any]]:
    """Every object within `part`, itself included."""
    if isinstance(part, dict):
        yield part
    if isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from walk(each)
