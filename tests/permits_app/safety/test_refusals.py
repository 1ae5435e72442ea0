"""Every refusal a hook can write says what it saw, what holds, and what would pass."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from permits_app.hook_rejection import Reject
from tools_app.core.errors import GolemError

SAFETY = Path(__file__).parents[3] / "permits_app" / "safety"
REQUIRED = {"rule", "reason", "observed", "limit", "would_pass"}


def list_refusals() -> list[tuple[str, set[str]]]:
    found = []
    for path in sorted(SAFETY.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Reject":
                found.append((f"{path.name}:{node.lineno}", {word.arg or "" for word in node.keywords}))
    return found


def test_there_are_refusals_to_look_at() -> None:
    assert len(list_refusals()) > 30


@pytest.mark.parametrize(("place", "given"), list_refusals())
def test_a_refusal_names_rule_observation_limit_and_what_would_pass(place: str, given: set[str]) -> None:
    assert given >= REQUIRED, place


def test_every_refusal_reaches_the_agent_with_the_same_seven_members() -> None:
    error = Reject(rule="x.y", reason="no", observed="2", limit="1").as_error("x")
    assert isinstance(error, GolemError)
    assert error.data == {
        "hook": "x",
        "rule": "x.y",
        "observed": "2",
        "limit": "1",
        "remaining": None,
        "resets_at": None,
        "would_pass": None,
    }
