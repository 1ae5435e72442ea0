"""What the pages of a golem need of the admin that they are mixed into, and the shape of its addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from django.contrib.admin import AdminSite
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from archetypes_app.models import Golem
from archetypes_app.roles import Power

View = Callable[..., HttpResponseBase]
Wrap = Callable[[View], View]
"""What makes a view one that only signed-in people reach."""


M = TypeVar("M", bound=Model)


class GolemSite(Protocol):
    """The admin of golems, as its pages use it."""

    admin_site: AdminSite
    opts: object

    def get_own_golem(self, request: HttpRequest, golem_id: object, power: Power = Power.OPERATE) -> Golem:
        """The golem, for whoever may use that power. Raises Http404 and PermissionDenied."""

    def get_seen_golem(self, request: HttpRequest, golem_id: object) -> Golem:
        """The golem, for whoever may see it. Raises Http404 and PermissionDenied."""

    def find_golem_with(self, request: HttpRequest, golem_id: object, power: Power) -> Golem:
        """The golem, for whoever may use that power. Raises Http404 and PermissionDenied."""

    def get_row(self, request: HttpRequest, object_id: object) -> Golem:
        """The golem at a page's address. Raises Http404 and PermissionDenied."""

    def page_of(self, golem: Golem) -> str:
        """The address of the golem's page."""

    def act(
        self, request: HttpRequest, golem: Golem, call: Callable[..., object], *, done: str, **page: object
    ) -> HttpResponse:
        """Asks for a reason, then calls `call` with it."""

    def list_choices(self, model: type[M], request: HttpRequest) -> QuerySet[M]:
        """The rows of `model` that this person may choose."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whether this person may make a golem."""

    def has_change_permission(self, request: HttpRequest, obj: Golem | None = None) -> bool:
        """Whether this person may change the golem."""


def as_golem_admin(pages: object) -> GolemSite:
    """The admin of golems that `pages` are mixed into."""
    return cast(GolemSite, pages)
