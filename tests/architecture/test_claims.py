"""A claim looks at the claimed row's own columns only.

Django turns an UPDATE filtered across a relation into `id IN (SELECT …)`. PostgreSQL evaluates that once: a claim that
had to wait for another one to commit would not see what the other wrote, and both would hold the row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from django.db.models import Field, JSONField

from tests.architecture.sources import walk

_LOOKUPS = frozenset(Field().get_lookups()) | frozenset(JSONField().get_lookups())
# Fills and empties throw-away databases; nothing else runs there.
_MEASURING = ("tests/bench/", "tests/proof/")


def _list_conditions(call: ast.expr) -> Iterator[str]:
    """The keywords of every `.filter(…)` and `.exclude(…)` of a chain, and of `Q(…)` inside them."""
    for node in ast.walk(call):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in {"filter", "exclude", "Q"}:
                yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def _find_crossing(node: ast.AST) -> list[str]:
    """Conditions of an `.update(…)` that cross a relation."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update"):
        return []
    columns = [keyword.arg for keyword in node.keywords if keyword.arg]
    return [each for each in [*_list_conditions(node.func.value), *columns] if _is_crossing(each)] + [
        column for part in (node, node.func.value) for column in _list_crossing_columns(part)
    ]


def _find_kept_crossing(node: ast.AST) -> list[str]:
    """A column of another row as the value of a condition that is handed on: `{"until__lte": F("golem__tick")}`."""
    if not isinstance(node, ast.Dict):
        return []
    return [column for value in node.values for column in _list_crossing_columns(value)]


def _list_crossing_columns(expression: ast.AST) -> list[str]:
    columns = [
        str(call.args[0].value)
        for call in ast.walk(expression)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "F" and isinstance(call.args[0], ast.Constant)
    ]
    return [column for column in columns if _is_crossing(column)]


def _is_crossing(path: str) -> bool:
    return any(part not in _LOOKUPS for part in path.split("__")[1:])


def test_no_update_is_filtered_across_a_relation() -> None:
    found = {
        path: crossing
        for path, node in walk(skip=_MEASURING)
        if (crossing := _find_crossing(node) or _find_kept_crossing(node))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "crossing"),
    [
        ("A.objects.filter(pk=1, b__c=2).update(x=1)", ["b__c"]),
        ("A.objects.filter(Q(b__c__isnull=True), pk=1).update(x=1)", ["b__c__isnull"]),
        ("A.objects.filter(pk=1).exclude(b__c__lt=2).update(x=1)", ["b__c__lt"]),
        ("A.objects.filter(pk__in=[1], b__lte=2).update(x=1)", []),
        ("A.objects.filter(b__lte=F('c')).update(x=F('x') + 1)", []),
    ],
)
def test_a_crossing_condition_is_found_wherever_it_stands(source: str, crossing: list[str]) -> None:
    assert _find_crossing(ast.parse(source, mode="eval").body) == crossing


def test_a_column_of_another_row_is_found_in_a_claim_and_in_a_condition_that_is_handed_on() -> None:
    claim = ast.parse("A.objects.filter(until__lte=F('golem__tick')).update(x=1)", mode="eval").body
    assert set(_find_crossing(claim)) == {"golem__tick"}
    assert _find_kept_crossing(ast.parse("{'until__lte': F('golem__tick')}", mode="eval").body) == ["golem__tick"]
