"""A claim looks at the claimed row's own columns only.

Django turns an UPDATE filtered across a relation into `id IN (SELECT …)`. PostgreSQL evaluates that once: a claim that
had to wait for another one to commit would not see what the other wrote, and both would hold the row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from django.db.models import Field

from tests.architecture.sources import walk

_LOOKUPS = frozenset(Field().get_lookups())
# Fills and empties throw-away databases; nothing else runs there.
_MEASURING = ("golem_project/bench/", "golem_project/proof/")


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
    return [
        condition
        for condition in _list_conditions(node.func.value)
        if any(part not in _LOOKUPS for part in condition.split("__")[1:])
    ]


def test_no_update_is_filtered_across_a_relation() -> None:
    found = {path: crossing for path, node in walk(skip=_MEASURING) if (crossing := _find_crossing(node))}
    assert found == {}


@pytest.mark.parametrize(
    ("source", "crossing"),
    [
        ("A.objects.filter(pk=1, b__c=2).update(x=1)", ["b__c"]),
        ("A.objects.filter(Q(b__c__isnull=True), pk=1).update(x=1)", ["b__c__isnull"]),
        ("A.objects.filter(pk=1).exclude(b__c__lt=2).update(x=1)", ["b__c__lt"]),
        ("A.objects.filter(pk__in=[1], b__lte=2).update(x=1)", []),
    ],
)
def test_a_crossing_condition_is_found_wherever_it_stands(source: str, crossing: list[str]) -> None:
    assert _find_crossing(ast.parse(source, mode="eval").body) == crossing
