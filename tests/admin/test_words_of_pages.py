"""Words that people met on pages and did not understand stand in no text of the product any more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from tests.architecture.sources import ROOT, list_tracked

NOT_UNDERSTOOD: Final = (
    "becomes its agents act again",
    "Take over a policy",
    "least that would have done",
    "is told from now on",
    "because no chain takes all rules at once",
    "interest of a block is asked",
    "prediction error 0",
    "approved with one only",
    "heartbeats on time",
    "Building calls",
    "Tool definitions",
    "Per transaction micro usd",
    "structured queries",
    "so many alike",
    "starts no commit",
    "collateral over debt as planned",
)
_ROOMS: Final = ("permits_app/", "golem_project/", "archetypes_app/", "memory_app/", "templates/")


def list_texts() -> Iterator[tuple[str, str]]:
    """Every text that may come on a page, with its file: strings of modules that are no docstrings, and templates."""
    for path in list_tracked():
        if not path.startswith(_ROOMS) or "/migrations/" in path:
            continue
        if path.endswith(".html"):
            yield path, (ROOT / path).read_text(encoding="utf-8")
        elif path.endswith(".py"):
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            told = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
            for each in ast.walk(tree):
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in told:
                    yield path, each.value


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    return list(list_texts())


@pytest.mark.parametrize("words", NOT_UNDERSTOOD)
def test_what_nobody_understood_is_said_nowhere(texts: list[tuple[str, str]], words: str) -> None:
    assert len(texts) > 10_000
    assert sorted({path for path, text in texts if words.lower() in text.lower()}) == []


def test_a_key_of_an_agent_is_called_an_api_key(texts: list[tuple[str, str]]) -> None:
    wizard = [text for path, text in texts if path == "permits_app/admin/wizard.py"]
    assert "API key" in wizard and "Token" not in wizard
