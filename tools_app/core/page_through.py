"""Reads many rows a page at a time, each page by a statement of its own.

A cursor of the server would live longer than a statement, and between two of them a pooler may hand the connection to
somebody else, or drop it. So may whoever restarts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

Row = TypeVar("Row")
PAGE = 1_000


def page_through(
    rows: QuerySet[Any, Row],  # Any: rows of any model
    *,
    by: Sequence[str],
    page: int = PAGE,
) -> Iterator[Row]:
    """All rows in the order of the columns `by`, which together are one row's own; what comes meanwhile may be missing.

    A query of values() has the columns among its values.
    """
    is_of_values = rows.query.values_select or rows.query.annotation_select
    read: Callable[[Any], Any] = (  # Any: a row of any model
        itemgetter(*by) if is_of_values else attrgetter(*by)
    )
    left = ordered = rows.order_by(*by)
    while True:
        found = list(left[:page])
        yield from found
        if len(found) < page:
            return
        last = read(found[-1])
        left = ordered.filter(_beyond(by, last if len(by) > 1 else (last,)))


def _beyond(by: Sequence[str], last: Sequence[Any]) -> Q:  # Any: a column's value, of any type
    """Rows after `last`; the first column stands alone too, so that its index leads there."""
    is_after, is_equal = Q(), Q()
    for name, value in zip(by, last, strict=True):
        is_after |= is_equal & Q(**{f"{name}__gt": value})
        is_equal &= Q(**{name: value})
    return Q(**{f"{by[0]}__gte": last[0]}) & is_after
