"""Filters that show an owner nothing of other owners' rows, which Django's own filters by relation would."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest

from archetypes_app.demo_golems import APART, link_to, read_set_apart, shorten_names
from archetypes_app.ownership import list_seen_golems


class GolemFilter(SimpleListFilter):
    """Rows of one golem; only one's own golems are offered. What the demo and measurements made is left out until the
    list is asked for it, or for such a golem.
    """

    title = "golem"
    parameter_name = "of_golem"
    path = "golem"

    def __init__(
        self,
        request: HttpRequest,
        params: dict[str, Any],  # Any: what the address asks for
        model: Any,  # Any: Django hands on any value
        model_admin: ModelAdmin[Any],  # Any: Django hands on any form and row
    ) -> None:
        given = params.pop(APART, None)
        self.is_with_apart = bool(given)
        golems = list_seen_golems(request.user)
        self._golems = golems
        self._apart = read_set_apart(golems)
        super().__init__(request, params, model, model_admin)
        # Which of them are told above the list; nothing where one golem was asked for.
        self.apart = shorten_names(self._apart.values()) if self.value() is None else ()
        self.apart_url = link_to(request.GET, is_with_apart=not self.is_with_apart)

    def expected_parameters(self) -> list[str | None]:
        """The golem, and whether what is set apart is shown too."""
        return [self.parameter_name, APART]

    def lookups(
        self,
        request: HttpRequest,
        model_admin: ModelAdmin[Any],  # Any: Django hands on any form and row
    ) -> list[tuple[str, str]]:
        """Names of the golems this person may see; those that are set apart come last."""
        shown = self._golems.exclude(pk__in=self._apart) if self._apart else self._golems
        names = [(str(pk), name) for pk, name in shown.order_by("name").values_list("pk", "name")[:50]]
        return names + [(str(pk), name) for pk, name in list(self._apart.items())[:20]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # Any: rows of any model
        """Keep the chosen golem's rows; an id that was not offered keeps none."""
        value = self.value()
        if value is None:
            hides = self._apart and not self.is_with_apart
            return queryset.exclude(**{f"{self.path}__in": list(self._apart)}) if hides else queryset
        if value not in {key for key, _ in self.lookup_choices}:
            return queryset.none()
        return queryset.filter(**{self.path: value})


class GolemIdFilter(GolemFilter):
    """The same for rows that name their golem by id alone."""

    path = "golem_id"


class GolemItselfFilter(GolemFilter):
    """The same for the list of golems."""

    path = "pk"
