"""People, golems, archetypes, profiles and keys."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model

from archetypes_app.actions.create_api_key import NewApiKey, create_api_key
from archetypes_app.models import Archetype, Golem, ToolProfile
from archetypes_app.owner_group import ensure_owner_group
from tools_app.core import clock

PASSWORD = "a long password for tests"


def make_owner(*, name: str = "ana", password: str = PASSWORD) -> Any:
    """A staff account in the group Owners."""
    owner = get_user_model().objects.create_user(username=name, password=password, is_staff=True)
    owner.groups.add(ensure_owner_group())
    return owner


def make_operator(*, name: str = "root", password: str = PASSWORD) -> Any:
    """A superuser."""
    return get_user_model().objects.create_superuser(username=name, password=password)


def make_profile(
    *,
    name: str,
    categories: Iterable[str] = (),
    owner: Any = None,
    is_builtin: bool = False,
    is_read_only: bool = False,
) -> ToolProfile:
    """A tool profile; without an owner it is shared or built in."""
    return ToolProfile.objects.create(
        name=name, categories=list(categories), owner=owner, is_builtin=is_builtin, is_read_only=is_read_only
    )


def make_archetype(
    *, name: str | None = None, tool_categories: Iterable[str] = ("data",), owner: Any = None, is_builtin: bool = False
) -> Archetype:
    """An archetype; without an owner it is shared or built in."""
    return Archetype.objects.create(
        name=name or f"kind-{uuid.uuid4().hex[:8]}",
        category="golem",
        tool_categories=list(tool_categories),
        owner=owner,
        is_builtin=is_builtin,
    )


def make_golem(
    *,
    owner: Any,
    name: str = "Atlas",
    archetype: Archetype | None = None,
    profiles: Iterable[ToolProfile] = (),
    address: str = "",
    home_chain_id: int = 31337,
) -> Golem:
    """A golem without wallet row, limits or cage."""
    golem = Golem.objects.create(
        owner=owner,
        name=name,
        archetype=archetype or make_archetype(),
        address=address,
        home_chain_id=home_chain_id,
    )
    golem.profiles.set(profiles)
    return golem


def make_api_key(
    *, golem: Golem, scopes: Iterable[str] = ("read", "preview", "commit"), label: str = "", now: datetime | None = None
) -> NewApiKey:
    """A key with its token text."""
    return create_api_key(
        golem=golem, scopes=scopes, label=label, created_by=golem.owner, now=now or clock.now(), most_tools=None
    )
