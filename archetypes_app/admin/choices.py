"""Filters that show an owner nothing of other owners' rows, which Django's own filters by relation would."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest

from archetypes_app.admin.owner_scope import is_operator
from archetypes_app.models import Golem
from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power


class GolemFilter(SimpleListFilter):
    """Rows of one golem; only one's own golems are offered."""

    title = "golem"
    parameter_name = "of_golem"
    path = "golem"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Names of the golems this person may see."""
        golems = Golem.objects.all() if is_operator(request.user) else list_golems_with(request.user, Power.SEE)
        return [(str(golem.pk), golem.name) for golem in golems.order_by("name")[:50]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen golem's rows; an id that was not offered keeps none."""
        value = self.value()
        if value is None:
            return queryset
        if value not in {key for key, _ in self.lookup_choices}:
            return queryset.none()
        return queryset.filter(**{self.path: value})


class GolemIdFilter(GolemFilter):
    """The same for rows that name their golem by id alone."""

    path = "golem_id"
