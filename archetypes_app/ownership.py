"""Who owns a golem: its owner, and the co-owners who decide with them. An operator of the server is neither."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from archetypes_app.models import Golem


def match_owned_golems(user: Any) -> Q:
    """The condition on golems that `user` owns or co-owns; without a join, so that no row comes twice."""
    shared = Golem.co_owners.through.objects.filter(user_id=user.pk).values("golem_id")
    return Q(owner_id=user.pk) | Q(pk__in=shared)


def list_owned_golems(user: Any) -> QuerySet[Golem]:
    """Every golem `user` owns or co-owns."""
    return Golem.objects.filter(match_owned_golems(user))


def list_owners(golem: Golem) -> QuerySet[Any]:
    """The living accounts that own `golem`, in order of id."""
    people = get_user_model()._default_manager.filter(is_active=True)
    return people.filter(Q(pk=golem.owner_id) | Q(co_owned_golems=golem)).distinct().order_by("pk")


def is_owner(golem: Golem, user: Any) -> bool:
    """Whether `user` is a living account that owns or co-owns `golem`."""
    return list_owners(golem).filter(pk=user.pk).exists()
