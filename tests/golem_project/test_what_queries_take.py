"""Which rows each reading function takes of a golem that has rows in every state, beside a stranger's.

A function is found by its name and by what it asks for, so that one that is added tomorrow is asked tomorrow; what it
takes stands in a line of `what_queries_take.txt`, which GOLEM_WRITE_SNAPSHOTS=1 writes anew. A query that loses one of
its conditions takes rows that its line does not name. Rows whose label was unknown when the lines were written say
nothing.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import transaction
from django.test import RequestFactory

from permits_app.models import ActionPermit
from tests.architecture.sources import list_sources
from tests.rows_in_every_state import AS_MADE, SLICED, Labels, Taken, make_rows_in_every_state, note_taken
from tools_app.core import clock

pytestmark = [pytest.mark.django_db, pytest.mark.locks_at_will]
LINES: Final = Path(__file__).with_name("what_queries_take.txt")
APPS: Final = ("archetypes_app", "golem_project", "memory_app", "permits_app", "tools_app")
_READING: Final = ("list_", "read_", "find_", "count_", "sum_", "is_", "has_", "draw_", "describe_", "load_", "tell_")
# Of what has another name, those that are asked about somebody or at a time; and what starts processes is not called.
_OF_SOMEBODY: Final = {"golem", "golem_id", "owner", "owner_id", "person", "permit", "permit_id", "now"}
_KNOWN: Final = "known"
_ALL: Final = "all"
_NONE: Final = "none"
_NOT_CALLED: Final = ("golem_project/embedded/", "golem_project/upgrades/", "golem_project/demo/")


def _find_functions(app: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Those of a module whose text reads rows and whose arguments are all known."""
    for path in sorted(list_sources()):
        is_called = not path.startswith(_NOT_CALLED) and "/migrations/" not in path and "/management/" not in path
        if not path.startswith(f"{app}/") or not is_called:
            continue
        source = Path(path).read_text(encoding="utf-8")
        named = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and _is_asked(node)]
        if not named or ".objects" not in source:
            continue
        name = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        module = import_module(name)
        yield from ((f"{name}.{each}", getattr(module, each)) for each in named)


def _is_asked(node: ast.FunctionDef) -> bool:
    asked = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    return node.name.lstrip("_").startswith(_READING) or bool(asked & _OF_SOMEBODY)


def _make_arguments(golem: Any, labels: Labels) -> Mapping[str, Any]:
    """Argument -> value: the golem, its people, a time, and by its model's name each row that is as it was made."""
    now = clock.now()
    request = RequestFactory().get("/")
    request.user = golem.owner
    rows: dict[str, Any] = {}
    for (label, key), how in labels.items():
        if how == AS_MADE:
            model = apps.get_model(label)
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", model.__name__).lower()
            rows |= {name: model._base_manager.get(pk=key), f"{name}_id": key}
    permit = ActionPermit.objects.filter(golem=golem).order_by("created_at", "pk").first()
    assert permit is not None
    return {
        **rows,
        "request": request,
        **{"golem": golem, "golem_id": golem.pk, "golems": [golem], "golem_ids": [golem.pk]},
        **dict.fromkeys(("owner", "person", "user"), golem.owner),
        **dict.fromkeys(("owner_id", "person_id", "user_id"), golem.owner_id),
        **{"now": now, "at": now, "until": now + timedelta(days=1), "since": now - timedelta(days=1)},
        **{"chain_id": 31337, "chain_ids": [31337], "permit": permit, "permit_id": permit.pk},
        **dict.fromkeys(("limit", "most", "count"), 500),
    }


def _choose_arguments(function: Callable[..., Any], known: Mapping[str, Any]) -> dict[str, Any] | None:
    chosen = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            return None
        if name in known:
            chosen[name] = known[name]
        elif parameter.default is parameter.empty:
            return None
    return chosen


def _read_lines() -> tuple[dict[str, set[str]], dict[str, Taken]]:
    """Every label that was known, by model; and by function what its queries take."""
    known: dict[str, set[str]] = {}
    found: dict[str, Taken] = {}
    for line in LINES.read_text(encoding="utf-8").splitlines() if LINES.exists() else ():
        name, _, told = line.partition(": ")
        parts = [part.partition(" = ") for part in told.split("; ") if part]
        if name == _KNOWN:
            known = {model: set(labels.split(", ")) for model, _, labels in parts}
        else:
            found[name] = {
                model: {_read_labels(each, known[model]) for each in queries.split(" | ")}
                for model, _, queries in parts
            }
    return known, found


def _read_labels(told: str, known: set[str]) -> frozenset[str]:
    if told.startswith(_ALL):
        return frozenset(known) - set(told.removeprefix(_ALL).removeprefix(" but ").split(", "))
    return frozenset(told.split(", ")) - {_NONE}


def _write_labels(labels: frozenset[str], known: set[str]) -> str:
    others = known - labels
    if len(others) < len(labels):
        return f"{_ALL} but {', '.join(sorted(others))}" if others else _ALL
    return ", ".join(sorted(labels)) or _NONE


def _write_line(name: str, taken: Taken, known: dict[str, set[str]]) -> str:
    told = (
        f"{model} = {' | '.join(sorted(_write_labels(each, known[model]) for each in queries))}"
        for model, queries in sorted(taken.items())
    )
    return f"{name}: {'; '.join(told)}"


def _refuse(*_: object) -> None:
    raise OSError("nothing is asked of others here")


@pytest.mark.parametrize("app", APPS)
def test_each_reading_function_takes_the_rows_that_its_line_names(app: str, monkeypatch: pytest.MonkeyPatch) -> None:
    golem, labels = make_rows_in_every_state()
    arguments = _make_arguments(golem, labels)
    known, lines = _read_lines()
    is_written = bool(os.environ.get("GOLEM_WRITE_SNAPSHOTS"))
    if is_written:
        known = {}
        for (model, _), label in labels.items():
            known.setdefault(model, set()).add(label)
    cache.clear()
    for way in ("connect", "connect_ex", "send", "sendall"):
        monkeypatch.setattr(socket.socket, way, _refuse)
    found: dict[str, Taken] = {}
    for name, function in _find_functions(app):
        chosen = _choose_arguments(function, arguments)
        if chosen is None:
            continue
        with note_taken(labels) as taken, transaction.atomic():
            # What it took before it failed counts.
            with suppress(Exception):
                told = function(**chosen)
                if hasattr(told, "__iter__"):
                    list(told)
            transaction.set_rollback(True)
        if SLICED in taken:
            continue
        found[name] = {
            model: {each & frozenset(known[model]) for each in queries}
            for model, queries in taken.items()
            if model in known
        }
    if is_written:
        kept = {name: each for name, each in lines.items() if not name.startswith(f"{app}.")}
        kept |= {name: each for name, each in found.items() if each}
        of_all = "; ".join(f"{model} = {', '.join(sorted(each))}" for model, each in sorted(known.items()))
        written = [f"{_KNOWN}: {of_all}", *(_write_line(name, each, known) for name, each in sorted(kept.items()))]
        LINES.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
        return
    for name in found.keys() & lines.keys():
        assert found[name] == lines[name], name
