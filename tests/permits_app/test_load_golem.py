"""A golem loaded for a decision: the same toolset as one loaded plainly, and nothing left to ask for."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.toolset import hash_toolset, resolve_toolset
from permits_app.limits.policy import load_golem
from tests import factories


@pytest.fixture
def golem(db: None) -> Golem:
    owner = factories.make_owner()
    own = [factories.make_profile(name=name, categories=["data", "trading"], owner=owner) for name in ("zebra", "ant")]
    shared = factories.make_profile(name="of the archetype", categories=["lp"], owner=owner)
    golem = factories.make_golem(owner=owner, profiles=own)
    golem.archetype.profiles.add(shared)
    ToolOverride.objects.create(golem=golem, tool_name="uniswap_get_quote", mode=OverrideMode.EXCLUDE)
    ToolOverride.objects.create(archetype=golem.archetype, tool_name="data_get_gas", mode=OverrideMode.EXCLUDE)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    return golem


def test_its_lists_are_those_of_the_rows(golem: Golem) -> None:
    loaded, plain = load_golem(golem.pk), Golem.objects.get(pk=golem.pk)

    assert [row.name for row in loaded.profiles.all()] == ["ant", "zebra"]
    assert list(loaded.archetype.profiles.all()) == list(plain.archetype.profiles.all())
    assert list(loaded.tool_overrides.all()) == list(plain.tool_overrides.all())
    assert list(loaded.archetype.tool_overrides.all()) == list(plain.archetype.tool_overrides.all())
    assert hash_toolset(resolve_toolset(loaded)) == hash_toolset(resolve_toolset(plain))


def test_it_takes_one_round_trip_and_its_toolset_none(golem: Golem, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        loaded = load_golem(golem.pk)
    with django_assert_num_queries(0):
        resolved = resolve_toolset(loaded)
    assert hash_toolset(resolved) == hash_toolset(resolve_toolset(Golem.objects.get(pk=golem.pk)))


def test_a_narrower_question_is_asked_of_the_database_and_not_of_what_was_fetched(golem: Golem) -> None:
    loaded = load_golem(golem.pk)

    assert [row.name for row in loaded.profiles.filter(name="ant")] == ["ant"]
    assert not loaded.profiles.filter(name="of the archetype").exists()


def test_a_golem_without_profiles_of_its_own_has_those_of_its_archetype(db: None) -> None:
    owner = factories.make_owner()
    shared = factories.make_profile(name="of the archetype", categories=["lp"], owner=owner)
    other = factories.make_golem(
        owner=owner, name="other", archetype=factories.make_archetype(name="other", owner=owner)
    )
    golem = factories.make_golem(owner=owner)
    golem.profiles.clear()
    golem.archetype.profiles.set([shared])

    loaded = load_golem(golem.pk)
    assert list(loaded.profiles.all()) == []
    assert list(loaded.archetype.profiles.all()) == [shared]
    assert hash_toolset(resolve_toolset(loaded)) == hash_toolset(resolve_toolset(Golem.objects.get(pk=golem.pk)))
    assert list(load_golem(other.pk).archetype.profiles.all()) == []
