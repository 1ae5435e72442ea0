"""A new golem starts with what the environment says, unless its maker says otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem, ToolProfile
from permits_app.actions.create_golem import create_golem
from tools_app.core import clock


@pytest.mark.parametrize(
    ("chosen", "expected"), [(None, ["trader", "vault"]), ([], []), (["lp"], ["lp"])], ids=["none said", "none", "one"]
)
@pytest.mark.django_db
def test_profiles_come_from_the_maker_or_else_from_the_environment(
    settings: Any, chosen: list[str] | None, expected: list[str]
) -> None:
    settings.GOLEM_NEW_GOLEM_PROFILES = "trader,vault"
    sync_builtins()
    golem = create_golem(
        owner=get_user_model().objects.create(username="ana"),
        name="g",
        archetype=Archetype.objects.get(name="trade-executor"),
        profiles=None if chosen is None else ToolProfile.objects.filter(name__in=chosen),
        home_chain_id=31337,
        base_asset="USDC",
        actor="owner:1",
        now=clock.now(),
    )
    assert sorted(Golem.objects.get(pk=golem.pk).profiles.values_list("name", flat=True)) == expected
