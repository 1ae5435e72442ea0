"""No test writes when something ends: it lets the time pass until then, with `tests/passing_time.py`, and looks.

Whoever writes an end meets a row that the product never made, and never meets how long it really lives.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

import pytest
from django.apps import apps

from tests.architecture.sources import PACKAGES, list_tracked, parse

_SAYS_UNTIL: Final = re.compile(r"(until|expires|ends|deadline|executes|due)(_at|_time)?$")
_CHANGES_ROWS: Final = ("update", "aupdate", "bulk_update", "abulk_update", "change_rows")

WRITTEN: Final[dict[str, str]] = {
    "tests/admin/test_golem_tabs.py::_expire_keys": "one glance at each state; how a key ends is tried elsewhere",
    "tests/concurrency/test_killed_followers_of_orders.py::look": (
        "a worker of its own holds the lease, by a clock of its own"
    ),
    "tests/golem_project/heartbeat/test_killed_processes.py::let_their_time_pass": (
        "other processes hold the leases, each by a clock of its own"
    ),
    "tests/golem_project/test_set_back_clocks.py::test_a_permit_under_way_is_free_for_another_worker_though_its_lease_"
    "is_of_the_future": "what a clock that was set back leaves behind no clock that goes forward makes",
    "tests/permits_app/approvals/test_one_word.py::make_waiting": "a row of each state, made and never lived in",
    "tests/permits_app/safety/test_received_rules.py::purse": "what a principal gave, of which the chain says the end",
    "tests/permits_app/test_when_this_server_acts_next.py::under_way": "a row of each state, made and never lived in",
    "tests/permits_app/test_others_money.py::test_the_database_keeps_no_right_that_is_none": "the database refuses it",
    **{
        f"tests/proof/ten_thousand.py::{name}": "whose turn it is in a day that passes in minutes, for ten thousand"
        for name in ("explain_sweeps", "tick", "tick_by_workers")
    },
    "tests/proof/lies.py::pass_rounds": "a proof of many cells, whose chain goes by the machine's time for hours",
}
"""Where an end is written all the same, and why it cannot be waited for."""


@cache
def list_ends() -> frozenset[str]:
    """The columns of the product's rows that say until when something lives, waits or is held."""
    return frozenset(
        field.name
        for model in apps.get_models()
        if model.__module__.partition(".")[0] in PACKAGES
        for field in model._meta.fields
        if field.get_internal_type() == "DateTimeField" and _SAYS_UNTIL.search(field.name)
    )


def _words_of(node: ast.Call, kept: dict[str, ast.Dict]) -> set[str]:
    """The columns that a call names: as words, in a list, or in a dictionary that it is given."""
    named = {word.arg for word in node.keywords if word.arg}
    given = [word.value for word in node.keywords if word.arg is None]
    for each in given:
        found = kept.get(each.id) if isinstance(each, ast.Name) else each
        if found is not None:
            named |= set(_list_words(ast.walk(found)))
    for argument in node.args:
        if isinstance(argument, ast.List | ast.Tuple):
            named |= set(_list_words(argument.elts))
    return named


def _list_words(nodes: Iterable[ast.AST | None]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def find_written_ends(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Functions that write an end into a row that is there, each with the column."""
    ends = list_ends()
    for function in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)):
        nodes = list(ast.walk(function))
        kept = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        # A dictionary of a parametrised test, or of a loop, is not followed by its name: whatever stands there counts.
        loose = any(
            isinstance(node, ast.Call)
            and _name_of(node) in _CHANGES_ROWS
            and any(
                word.arg is None and isinstance(word.value, ast.Name) and word.value.id not in kept
                for word in node.keywords
            )
            for node in nodes
        )
        for node in nodes:
            written: set[str] = set()
            if isinstance(node, ast.Call) and _name_of(node) in _CHANGES_ROWS:
                written = _words_of(node, kept)
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                written = {leaf.attr for each in targets for leaf in ast.walk(each) if isinstance(leaf, ast.Attribute)}
            elif loose and isinstance(node, ast.Dict):
                written = set(_list_words(node.keys))
            yield from ((function.name, column) for column in sorted(written & ends))


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def test_no_test_writes_the_end_of_what_lives_waits_or_is_held() -> None:
    found: dict[str, set[str]] = {}
    for path in list_tracked():
        if path.startswith("tests/") and path.endswith(".py"):
            for function, column in find_written_ends(parse(path)):
                found.setdefault(f"{path}::{function}", set()).add(column)
    assert {place: columns for place, columns in found.items() if place not in WRITTEN} == {}, "let the time pass"
    assert sorted(WRITTEN.keys() - found.keys()) == [], "it is gone"


def test_the_columns_that_end_something_are_known() -> None:
    least = {"expires_at", "lease_expires_at", "lease_until", "locked_until", "deadline_at", "executes_at", "due_at"}
    assert least | {"ends_at", "until", "code_ends_at", "paused_until"} <= list_ends()
    assert not {"created_at", "next_tick_at", "sent_at"} & list_ends()


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        ("Row.objects.filter(pk=1).update(expires_at=now)", ["expires_at"]),
        ("Row.objects.update(state='X', lease_expires_at=None, until=now)", ["lease_expires_at", "until"]),
        ("Row.objects.update(**{'deadline_at': now})", ["deadline_at"]),
        ("over = {'locked_until': now}\n    Row.objects.update(**over)", ["locked_until"]),
        ("for change in ({'ends_at': now}, {'state': 'X'}):\n        rows.update(**change)", ["ends_at"]),
        ("row.executes_at = now", ["executes_at"]),
        ("row.a, row.due_at = 1, now", ["due_at"]),
        ("Row.objects.bulk_update(rows, ['expires_at'])", ["expires_at"]),
        ("Row.objects.filter(expires_at=now).update(state='X')", []),
        ("Row.objects.create(expires_at=now)", []),
        ("let_pass_until(row.expires_at)", []),
        ("expected = {'expires_at': now}\n    assert told == expected", []),
    ],
)
def test_each_way_to_write_an_end_is_found(body: str, columns: list[str]) -> None:
    found = find_written_ends(ast.parse(f"def work():\n    {body}\n"))
    assert sorted({column for _, column in found}) == columns
