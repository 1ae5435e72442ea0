"""Sets golems of the demo and of measurements apart in lists, so that they do not bury what people own.

Only lists and sums leave them out, and say so; what needs a person and what holds commits up is told of every golem.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict

from archetypes_app.models import Golem
from archetypes_app.models.golem import Maker

APART: Final = "apart"
"""The parameter of a page that shows what is set apart beside the rest."""
_NAMED: Final = 3


def read_set_apart(golems: QuerySet[Golem]) -> dict[UUID, str]:
    """Of the golems a person may see, the names of those that are left out until they are asked for.

    A measurement's always; the demo's once there is one of somebody's own, so that who has the demo alone sees it.
    """
    rows = list(golems.exclude(made_by=Maker.OWNER).order_by("name").values_list("pk", "name", "made_by"))
    if any(maker == Maker.DEMO for _, _, maker in rows) and not golems.filter(made_by=Maker.OWNER).exists():
        rows = [row for row in rows if row[2] != Maker.DEMO]
    return {pk: name for pk, name, _ in rows}


def shorten_names(names: Iterable[str]) -> tuple[str, ...]:
    """A few of the names, and how many more there are."""
    every = list(names)
    more = len(every) - _NAMED
    return (*every[:_NAMED], f"{more} more") if more > 0 else tuple(every)


def link_to(query: QueryDict, *, is_with_apart: bool) -> str:
    """The same page, as its address asks for it, with what is set apart or without."""
    asked = query.copy()
    asked.pop(APART, None)
    if is_with_apart:
        asked[APART] = "1"
    return f"?{asked.urlencode()}"
