"""Names people in the audit log, and spells these names out for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.contrib.auth import get_user_model

KEY_ACTOR: Final = "key:"
"""What an actor's name begins with where an agent acts with an API key."""


def name_actor(user: Any) -> str:  # Any: which model accounts have is a setting
    """How the audit log names a person."""
    return f"owner:{user.pk}"


def name_key(prefix: str) -> str:
    """How the audit log names an agent's API key, by the part of the key that everybody may see."""
    return f"{KEY_ACTOR}{prefix}"


def spell_actors(actors: Iterable[str]) -> dict[str, str]:
    """What people read for each: the account's name for `owner:<id>`, anything else as the audit log has it."""
    found = {actor: actor for actor in actors}
    numbers = {actor: actor.removeprefix("owner:") for actor in found if actor.startswith("owner:")}
    people = {
        str(user.pk): user.get_username()
        for user in get_user_model().objects.filter(pk__in=[each for each in numbers.values() if each.isdigit()])
    }
    return found | {actor: people[number] for actor, number in numbers.items() if number in people}
