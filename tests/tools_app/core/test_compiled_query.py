"""A query compiled once gives the objects that the query itself gives, related rows and missing ones included."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import models
from django.db.models import Count

from archetypes_app.models import Golem, ToolOverride
from tests import factories
from tools_app.core.compiled_query import CompiledQuery

RELATED = ("archetype", "policy_cage__mirror", "spending_limits")
GOLEM: CompiledQuery[Golem] = CompiledQuery(
    lambda key, name: Golem.objects.select_related(*RELATED).filter(pk=key, name=name, is_memory_enabled=True),
    UUID(int=0),
    "stand-in",
)


def columns(row: models.Model | None) -> dict[str, Any] | None:
    return None if row is None else {f.attname: f.value_from_object(row) for f in row._meta.concrete_fields}


def test_rows_and_what_they_are_joined_with_are_those_of_the_orm(db: None, django_assert_num_queries: Any) -> None:
    golem = factories.make_golem(owner=factories.make_owner(), name="with a cage")
    factories.make_cage(golem=golem)
    plain = Golem.objects.select_related(*RELATED).get(pk=golem.pk)

    with django_assert_num_queries(1):
        (found,) = GOLEM.fetch(golem.pk, "with a cage")
        assert columns(found) == columns(plain)
        assert columns(found.archetype) == columns(plain.archetype)
        assert columns(found.policy_cage) == columns(plain.policy_cage)
        assert found.policy_cage.golem is found
        assert getattr(found, "spending_limits", None) is None
        assert not hasattr(found.policy_cage, "mirror")
    assert not found._state.adding


def test_other_parameters_give_other_rows(db: None) -> None:
    owner = factories.make_owner()
    first, second = (factories.make_golem(owner=owner, name=name) for name in ("a", "b"))

    assert [row.pk for row in GOLEM.fetch(first.pk, "a")] == [first.pk]
    assert [row.pk for row in GOLEM.fetch(second.pk, "b")] == [second.pk]
    assert GOLEM.fetch(first.pk, "b") == []
    assert GOLEM.fetch(uuid4(), "a") == []


def test_a_parameter_too_few_is_refused(db: None) -> None:
    with pytest.raises(ValueError, match="1 parameters for a query of 2"):
        GOLEM.fetch(uuid4())


def test_a_stand_in_that_the_query_does_not_use_is_refused(db: None) -> None:
    unused: CompiledQuery[Golem] = CompiledQuery(lambda key: Golem.objects.filter(name="a"), UUID(int=0))
    with pytest.raises(ValueError, match="not in the statement"):
        unused.fetch(uuid4())


def test_what_is_not_whole_rows_is_refused(db: None) -> None:
    counted: CompiledQuery[Golem] = CompiledQuery(lambda: Golem.objects.annotate(count=Count("profiles")))
    with pytest.raises(TypeError, match="whole rows"):
        counted.fetch()


def test_the_order_of_the_query_is_kept(db: None) -> None:
    golem = factories.make_golem(owner=factories.make_owner())
    for name in ("b", "c", "a"):
        ToolOverride.objects.create(golem=golem, tool_name=name, mode="EXCLUDE")
    ordered: CompiledQuery[ToolOverride] = CompiledQuery(
        lambda key: ToolOverride.objects.filter(golem=key), UUID(int=0)
    )
    assert [row.tool_name for row in ordered.fetch(golem.pk)] == ["a", "b", "c"]


def test_a_number_is_found_in_the_form_the_driver_gives_it(db: None) -> None:
    golem = factories.make_golem(owner=factories.make_owner(), home_chain_id=31337)
    by_chain: CompiledQuery[Golem] = CompiledQuery(
        lambda chain_id, key: Golem.objects.filter(home_chain_id=chain_id, pk=key, is_memory_enabled=True),
        1,
        UUID(int=0),
    )
    assert by_chain.fetch(31337, golem.pk) == [golem]
    assert by_chain.fetch(1, golem.pk) == []
