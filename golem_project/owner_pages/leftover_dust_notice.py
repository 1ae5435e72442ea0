"""Tells every page of the admin what of a person's golems is not out, for its "Needs you"."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from archetypes_app.ownership import list_golems_with, list_seen_golems
from archetypes_app.roles import Power
from permits_app.pages.leftover_dust_lines import list_left_lines
from tools_app.core import clock


def tell_left(request: HttpRequest) -> dict[str, object]:
    """`left_lines`, and `may_stop` for who may stop a golem; asked of the database only by a page that shows them. None
    for who is not logged in.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    golems = list_seen_golems(user)
    operated = list_golems_with(user, Power.OPERATE)
    return {
        "left_lines": SimpleLazyObject(lambda: list_left_lines(golems, now=clock.now())),
        "may_stop": SimpleLazyObject(lambda: user.is_superuser or operated.exists()),
    }
