"""What a definition of a tool may hold, up to its edges and not beyond."""

from __future__ import annotations

from typing import Any

import pytest

from tools_app.sandbox.definition import CATEGORIES, DefinitionRefused, check_definition
from tools_app.toolkit.enums import Category

BODY: dict[str, Any] = {
    "format": 1,
    "module": "ab" * 32,
    "name": "moon_phase",
    "summary": "The phase of the moon.",
    "description": "The phase of the moon on a day. Does not tell tides.",
    "category": "data",
    "budget": "fast",
    "steps": [],
    "parameters": {},
    "capabilities": [],
}


def is_taken(**changes: Any) -> bool:
    try:
        check_definition({**BODY, **changes})
    except DefinitionRefused:
        return False
    return True


def letters(count: int) -> str:
    """So many characters that read as words."""
    return ("word " * count)[: count - 1] + "."


@pytest.mark.parametrize(
    ("change", "is_ok"),
    [
        ({}, True),
        ({"name": "moon"}, False),
        ({"name": "Moon_phase"}, False),
        ({"name": f"moon_{'x' * 43}"}, True),
        ({"name": f"moon_{'x' * 44}"}, False),
        ({"summary": letters(120)}, True),
        ({"summary": letters(121)}, False),
        ({"summary": "two\nlines"}, False),
        ({"description": letters(2_000)}, True),
        ({"description": letters(2_001)}, False),
        ({"description": "two\nlines"}, True),
        ({"budget": "hour"}, False),
        ({"steps": [f"step {number}" for number in range(8)]}, True),
        ({"steps": [f"step {number}" for number in range(9)]}, False),
        ({"steps": ["the same", "the same"]}, False),
        ({"steps": [letters(60)]}, True),
        ({"steps": [letters(61)]}, False),
        ({"steps": "a step"}, False),
        ({"parameters": []}, False),
        ({"parameters": {"word": {"kind": "text", "description": letters(300)}}}, True),
        ({"parameters": {"word": {"kind": "text", "description": letters(301)}}}, False),
        ({"capabilities": ["log", "token"]}, True),
        ({"capabilities": ["log", "log"]}, False),
        ({"capabilities": ["nothing known"]}, False),
        ({"capabilities": "none"}, False),
        ({"format": 2}, False),
        ({"more": 1}, False),
    ],
)
def test_a_definition_is_taken_up_to_its_edges(change: dict[str, Any], is_ok: bool) -> None:
    assert is_taken(**change) is is_ok


def test_what_is_missing_is_named() -> None:
    for member in BODY:
        with pytest.raises(DefinitionRefused) as refused:
            check_definition({name: value for name, value in BODY.items() if name != member})
        assert refused.value.data["missing"] == [member]


def test_a_module_that_reads_has_no_place_among_shells_and_keys() -> None:
    closed = {"coding", "wallet", "safety", "testnet", "bootstrap", "self_improvement"}
    assert {str(each) for each in set(Category) - CATEGORIES} == closed
    assert [each for each in closed if is_taken(category=each)] == []
    assert all(is_taken(category=str(each)) for each in CATEGORIES)
