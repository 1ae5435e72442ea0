"""Rows of one golem in every state, and of a stranger beside it; and which of them a query takes.

Of each model that the admin's tests can make there is a row as it is made, and one more for each other value of its
state, for each time it lacks, for each switch turned and for another chain, where its table lets it. Each has a label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from django.db import DatabaseError, models, transaction
from django.db.models.query import QuerySet

from archetypes_app.models import Golem
from tests import factories
from tests.admin.rows import MAKERS
from tests.admin.rows_beside import BESIDE
from tools_app.core import clock

AS_MADE: Final = "as made"
STRANGERS: Final = "a stranger's"
SLICED: Final = "sliced"
"""In place of a model: a query took only the first rows, and which those are time and chance decide."""
_STATES: Final = ("state", "status", "phase", "kind", "verdict")
_ANOTHER_CHAIN: Final = 10
# What reads rows, or counts them.
_READING: Final = ("_fetch_all", "iterator", "exists", "count", "aggregate", "update", "delete")

Labels = dict[tuple[str, Any], str]
Taken = dict[str, set[frozenset[str]]]


def make_rows_in_every_state() -> tuple[Golem, Labels]:
    """The golem, and the label of each row by its model and key."""
    labels: Labels = {}
    golem = factories.make_golem(owner=factories.make_owner(name="of-all"), name="Of all")
    stranger = factories.make_golem(owner=factories.make_owner(name="a-stranger"), name="Strange")
    for whose, first in ((stranger, STRANGERS), (golem, AS_MADE)):
        for make in {**MAKERS, **BESIDE}.values():
            _note_new(labels, make(whose), first)
    for make in {**MAKERS, **BESIDE}.values():
        for name, value, label in list_others(make, golem):
            try:
                with transaction.atomic():
                    row = make(golem)
                    type(row)._base_manager.filter(pk=row.pk).update(**{name: value})
            except (DatabaseError, ValueError):
                continue
            if (row._meta.label_lower, row.pk) not in labels:
                labels[row._meta.label_lower, row.pk] = label
    return golem, labels


def _note_new(labels: Labels, row: Any, label: str) -> None:
    labels.setdefault((row._meta.label_lower, row.pk), label)
    for field in row._meta.concrete_fields:
        if field.is_relation and field.is_cached(row) and getattr(row, field.name) is not None:
            other = getattr(row, field.name)
            if (other._meta.label_lower, other.pk) not in labels:
                _note_new(labels, other, label)


def list_others(make: Any, golem: Golem) -> Iterator[tuple[str, Any, str]]:
    """What a row of that kind may be instead: column, value and label."""
    with transaction.atomic():
        try:
            row = make(golem)
            found = list(list_changes(row))
        except (DatabaseError, ValueError):
            found = []
        transaction.set_rollback(True)
    yield from found


def list_changes(row: Any) -> Iterator[tuple[str, Any, str]]:
    if isinstance(row, Golem):
        return
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if field.choices and field.name in _STATES:
            for each, _ in field.choices:
                if each != value:
                    yield field.attname, each, f"{field.name} {each}"
        elif isinstance(field, models.DateTimeField) and field.null:
            yield field.attname, clock.now() if value is None else None, f"{field.name} {value is None}"
        elif isinstance(field, models.BooleanField):
            yield field.attname, not value, f"{field.name} {not value}"
        elif field.name == "chain_id":
            yield field.attname, _ANOTHER_CHAIN, "another chain"


@contextmanager
def note_taken(labels: Labels) -> Iterator[Taken]:
    """Model -> the labels of its rows that each query takes meanwhile, queries that take the same once."""
    taken: Taken = defaultdict(set)
    is_looking = False

    def look(query: QuerySet[Any]) -> None:
        nonlocal is_looking
        if is_looking or query._result_cache is not None:
            return
        is_looking = True
        try:
            with transaction.atomic():
                model = query.model._meta.label_lower
                if query.query.is_sliced:
                    taken[SLICED] = set()
                keys = [(model, key) for (key,) in query.all().values_list("pk")]
                taken[model].add(frozenset(labels[key] for key in keys if key in labels))
        except Exception:
            # What cannot be asked again is not noted.
            return
        finally:
            is_looking = False

    with pytest.MonkeyPatch.context() as patch:
        for name in _READING:
            own = getattr(QuerySet, name)

            def noting(query: QuerySet[Any], *given: Any, _own: Any = own, **named: Any) -> Any:
                look(query)
                return _own(query, *given, **named)

            patch.setattr(QuerySet, name, noting)
        yield taken
