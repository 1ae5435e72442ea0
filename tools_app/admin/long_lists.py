"""Lists over tables that grow for years: what they count and offer is bounded by what is recent."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from django.contrib.admin import AllValuesFieldListFilter
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Field
from django.http import HttpRequest

MOST_COUNTED: Final = 2_000
"""A list counts so many rows and shows pages of them; older ones are found by its filters and its search."""
_RECENT: Final = 1_000
"""A filter offers the values of so many of the newest rows."""


class BoundedPaginator(Paginator[Any]):  # Any: rows of any model
    """Counts no further than MOST_COUNTED rows; `is_cut` says that there are more."""

    @cached_property
    def _rows_met(self) -> int:
        rows: Any = self.object_list  # Any: a query, which Django's stubs do not say
        return int(rows.order_by()[: MOST_COUNTED + 1].count())

    @cached_property
    def count(self) -> int:
        """Rows of the list, MOST_COUNTED at most."""
        return min(self._rows_met, MOST_COUNTED)

    @property
    def is_cut(self) -> bool:
        """Whether there are rows that no page shows."""
        return self._rows_met > MOST_COUNTED


class RecentValuesFilter(AllValuesFieldListFilter):
    """Offers the values that the newest rows of the list have, and the one that is chosen."""

    def __init__(
        self,
        field: Field[Any, Any],  # Any: a field of any type
        request: HttpRequest,
        params: dict[str, Any],  # Any: what the address asks for
        model: Any,  # Any: Django hands on any value
        model_admin: Any,  # Any: Django hands on any form and row
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        # In the order of the whole list, whichever part of it is shown: that has an index.
        newest = model_admin.get_queryset(request).order_by(*(model_admin.ordering or ()))
        values = set(newest.values_list(field_path, flat=True)[:_RECENT])
        chosen = self.lookup_val if isinstance(self.lookup_val, list) else [self.lookup_val] if self.lookup_val else []
        for each in chosen:
            # An address holds texts; what is no value of the column is offered no more.
            with suppress(ValidationError):
                values.add(field.to_python(each))
        # Django's own is a query; both are only gone through.
        self.lookup_choices: Any  # Any: Django types a query and takes any list
        self.lookup_choices = sorted(values, key=lambda each: (each is None, each))
