"""A bounded part of what waits, fair between those it belongs to: everybody's first before anybody's second.

In the order of waiting alone, what one golem has waiting and cannot be done now stands before everybody else's for as
long as it cannot.
"""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

Rows = TypeVar("Rows", bound=QuerySet[Any])  # Any: rows of any model


def in_turns(rows: Rows, *by: str, of: str) -> Rows:
    """`rows` in the order of `by` (names of columns, ascending), those of one `of` after each other's turn."""
    place = Window(RowNumber(), partition_by=[F(of)], order_by=[F(name).asc() for name in by])
    ordered: Rows = rows.annotate(place_in_turn=place).order_by("place_in_turn", *by)
    return ordered
