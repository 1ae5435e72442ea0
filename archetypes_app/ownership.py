"""Decides who may do what with which golem. Pages, actions, events and approvals all ask here.

Its owner and co-owners administer a golem; others have a role in it. An operator of the server is neither.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value

from archetypes_app.models import Golem, GolemMember
from archetypes_app.roles import Power, Role, roles_with


def match_golems(user: Any, power: Power) -> Q:  # Any: which model accounts have is a setting
    """The condition on golems with which `user` may do that; without a join, so that no row comes twice.

    An account that is not active may do nothing.
    """
    if not user.is_active:
        return Q(pk__in=[])
    shared = Golem.co_owners.through.objects.filter(user_id=user.pk).values("golem_id")
    member = GolemMember.objects.filter(person_id=user.pk, role__in=roles_with(power)).values("golem_id")
    return Q(owner_id=user.pk) | Q(pk__in=shared) | Q(pk__in=member)


def match_owned() -> Q:
    """The condition on golems that somebody with an active account owns or co-owns; nobody else may let one act."""
    living = Golem.co_owners.through.objects.filter(golem_id=OuterRef("pk"), user__is_active=True)
    return Q(owner__is_active=True) | Q(Exists(living))


def is_owned(golem_id: UUID) -> bool:
    """Whether somebody with an active account owns or co-owns that golem."""
    return Golem.objects.filter(match_owned(), pk=golem_id).exists()


def list_golems_with(user: object, power: Power) -> QuerySet[Golem]:
    """Every golem with which `user` may do that."""
    return Golem.objects.filter(match_golems(user, power))


def list_seen_golems(user: object) -> QuerySet[Golem]:
    """Every golem whose pages `user` may see: all of them for an operator."""
    return Golem.objects.all() if is_operator(user) else list_golems_with(user, Power.SEE)


def list_owned_golems(user: object) -> QuerySet[Golem]:
    """Every golem `user` owns or co-owns."""
    return list_golems_with(user, Power.ADMINISTER)


def list_people(golem: Golem, power: Power) -> QuerySet[Any]:  # Any: rows of any model
    """The living accounts that may do that with `golem`, in order of id."""
    people = get_user_model()._default_manager.filter(is_active=True)
    shared = Golem.co_owners.through.objects.filter(golem_id=golem.pk).values("user_id")
    member = GolemMember.objects.filter(golem_id=golem.pk, role__in=roles_with(power)).values("person_id")
    return people.filter(Q(pk=golem.owner_id) | Q(pk__in=shared) | Q(pk__in=member)).order_by("pk")


def match_pairs(power: Power, *, golem: str, person: str) -> Q:
    """The condition on rows that name a golem and a person in these fields: a living account that may do that."""
    shared = Golem.co_owners.through.objects.filter(golem_id=OuterRef(f"{golem}_id"), user_id=OuterRef(f"{person}_id"))
    member = GolemMember.objects.filter(
        golem_id=OuterRef(f"{golem}_id"), person_id=OuterRef(f"{person}_id"), role__in=roles_with(power)
    )
    owns = Q(**{person: F(f"{golem}__owner")})
    return Q(**{f"{person}__is_active": True}) & (owns | Q(Exists(shared)) | Q(Exists(member)))


def count_deciders_of(golem: str) -> object:
    """How many living accounts decide for the golem that a row names in the field `golem`; for annotations."""
    shared = Golem.co_owners.through.objects.filter(golem_id=OuterRef(OuterRef(f"{golem}_id"))).values("user_id")
    member = GolemMember.objects.filter(
        golem_id=OuterRef(OuterRef(f"{golem}_id")), role__in=roles_with(Power.DECIDE)
    ).values("person_id")
    owner = Golem.objects.filter(pk=OuterRef(OuterRef(f"{golem}_id"))).values("owner_id")
    people = get_user_model()._default_manager.filter(is_active=True)
    people = people.filter(Q(pk__in=owner) | Q(pk__in=shared) | Q(pk__in=member))
    return Subquery(people.order_by().annotate(one=Value(1)).values("one").annotate(n=Count("pk")).values("n"))


def list_deciders(golem: Golem) -> QuerySet[Any]:  # Any: rows of any model
    """Who decides what is asked of the owners of `golem`: they themselves and its approvers."""
    return list_people(golem, Power.DECIDE)


def has_power(golem: Golem, user: Any, power: Power) -> bool:  # Any: which model accounts have is a setting
    """Whether `user` is a living account that may do that with `golem`."""
    return list_people(golem, power).filter(pk=user.pk).exists()


def find_role(golem: Golem, user: Any) -> Role | None:  # Any: which model accounts have is a setting
    """The role of `user` in `golem`; None for a stranger."""
    if user.pk == golem.owner_id or golem.co_owners.filter(pk=user.pk).exists():
        return Role.ADMINISTRATOR
    row = GolemMember.objects.filter(golem=golem, person_id=user.pk).first()
    return Role(row.role) if row is not None else None


def may_own(user: Any) -> bool:  # Any: which model accounts have is a setting
    """Whether somebody owns a golem or may make one; members with a lesser role do not."""
    return bool(user.has_perm("archetypes_app.add_golem") or list_owned_golems(user).exists())


def is_operator(user: Any) -> bool:  # Any: which model accounts have is a setting
    """Operators run the server: they see every row and edit the built-ins."""
    return bool(user.is_active and user.is_superuser)
