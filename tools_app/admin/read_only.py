"""Rows nobody edits in the browser: ledgers, transactions, outcomes, audit."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from tools_app.admin.saved_filters import SavedFiltersMixin


class PlainAdmin(SavedFiltersMixin):
    """What every list here has in common: saved filters, no full counts, no unbounded pages, short choosers."""

    show_full_result_count = False
    list_per_page = 50
    list_filter_submit = False
    compressed_fields = True
    empty_text = ""  # what an empty list says instead of "nothing yet": where its rows come from


class ReadOnlyAdminMixin:
    """View permission at most; adding, changing and deleting do not exist, whoever asks."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False
