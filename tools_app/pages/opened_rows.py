"""Forms that know what was stored when they were opened: another tab, person or process may have written since.

What the page showed is sent along and compared, so that a value of another tab's yesterday never counts as a wish to go
back to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.functional import cached_property

from tools_app.core.bounded_parsing import read_exact_json

OPENED: Final = "opened_as"
_LONGEST_OPENED: Final = 8_192


class OpenedForm(forms.Form):
    """Refuses to write over what says something else than `stored` did when the page was opened."""

    opened_as = forms.CharField(required=False, widget=forms.HiddenInput())

    def __init__(
        self,
        *args: Any,  # Any: Django hands on any value
        stored: Mapping[str, str] | None = None,
        **kwargs: Any,  # Any: Django hands on any value
    ) -> None:
        super().__init__(*args, **kwargs)
        self._note(stored or {})

    @cached_property
    def changed_data(self) -> list[str]:
        """What a person changed."""
        return [name for name in super().changed_data if name != OPENED]

    def clean(self) -> dict[str, Any]:  # Any: each field gives its own type
        """What was changed meanwhile, by name, as an error of the form."""
        cleaned = super().clean() or {}
        opened = _read_opened(cleaned.get(OPENED, ""))
        moved = [name for name, value in self._stored.items() if opened.get(name) != value]
        if moved:
            told = ", ".join(map(self._name, moved))
            raise ValidationError(
                f"Changed by somebody else, or in another tab, since this page was opened: {told}. Nothing was written;"
                " what you typed is still here. Open the page anew to see what it is now.",
                code="edit_conflict",
            )
        return cleaned

    def _note(self, stored: Mapping[str, str]) -> None:
        self._stored = dict(stored)
        self.fields[OPENED].initial = json.dumps(self._stored, sort_keys=True)

    def _name(self, column: str) -> str:
        label = self.fields[column].label if column in self.fields else ""
        return str(label or column.replace("_", " ")).lower()


class OpenedRowForm(OpenedForm, forms.ModelForm[Any]):  # Any: rows of any model
    """The same of a row: what is stored of it, before what was typed is put into the instance."""

    columns: tuple[str, ...] = ()
    """What is compared; without any, every column of the row that is a field of the form."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: what Django hands to a form
        super().__init__(*args, **kwargs)
        self._note({} if self.instance._state.adding else self._read_columns())

    def _read_columns(self) -> dict[str, str]:
        known = {field.name for field in self.instance._meta.concrete_fields}
        names = self.columns or [name for name in self.fields if name in known and name != "golem"]
        return {name: self._read(name) for name in names}

    def _read(self, column: str) -> str:
        value = getattr(self.instance, column)
        if hasattr(value, "values_list"):
            return ",".join(map(str, sorted(value.values_list("pk", flat=True))))
        return str(value)


class OpenedRowAdmin:
    """An admin whose `form` is an `OpenedRowForm`, and whose fieldsets are another's."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:  # Any: unfold has no types
        """With what the row said, hidden, where there is a row."""
        admin: Any = super()  # Any: a mixin of admin pages
        found = list(admin.get_fieldsets(request, obj))
        if obj is None or any(OPENED in options["fields"] for _, options in found):
            return found
        return [*found, (None, {"fields": (OPENED,)})]


def _read_opened(text: str) -> dict[str, object]:
    try:
        found = read_exact_json(text.encode(), most_bytes=_LONGEST_OPENED)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
