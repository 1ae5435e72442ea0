"""Rows nobody edits in the browser: ledgers, transactions, outcomes, audit."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from tools_app.admin.long_lists import BoundedPaginator
from tools_app.admin.saved_filters import SavedFiltersMixin


class PlainAdmin(SavedFiltersMixin):
    """What every list here has in common: saved filters, no full counts, no unbounded pages, short choosers."""

    show_full_result_count = False
    paginator = BoundedPaginator
    list_per_page = 50
    list_filter_submit = False
    compressed_fields = True
    empty_text = ""  # what an empty list says instead of "nothing yet": where its rows come from

    def response_action(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],  # Any: rows of any model
    ) -> HttpResponse | None:
        """Deleting what is ticked is one transaction, as deleting one row is: its locks and its audit entries are.

        What was ticked and cannot be a row of this list is left out.
        """
        ticked = request.POST.getlist(ACTION_CHECKBOX_NAME)
        possible = [key for key in ticked if self._can_be_key(key)]
        if possible != ticked:
            data = request.POST.copy()
            data.setlist(ACTION_CHECKBOX_NAME, possible)
            request.POST = data  # type: ignore[assignment]  # Django's own actions read it once more
        if request.POST.get("action") != "delete_selected":
            return super().response_action(request, queryset)
        with transaction.atomic():
            return super().response_action(request, queryset)

    def _can_be_key(self, key: str) -> bool:
        try:
            self.model._meta.pk.to_python(key)
        except ValidationError:
            return False
        return True


class ReadOnlyAdminMixin:
    """View permission at most; adding, changing and deleting do not exist, whoever asks."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Never."""
        return False
