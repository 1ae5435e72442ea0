"""Names people in the audit log, and spells these names out for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model


def name_actor(user: Any) -> str:
    """How the audit log names a person."""
    return f"owner:{user.pk}"


def spell_actors(actors: Iterable[str]) -> dict[str, str]:
    """What people read for each: the account's name for `owner:<id>`, anything else as the audit log has it."""
    found = {actor: actor for actor in actors}
    numbers = {actor: actor.removeprefix("owner:") for actor in found if actor.startswith("owner:")}
    people = {
        str(user.pk): user.get_username()
        for user in get_user_model().objects.filter(pk__in=[each for each in numbers.values() if each.isdigit()])
    }
    return found | {actor: people[number] for actor, number in numbers.items() if number in people}
