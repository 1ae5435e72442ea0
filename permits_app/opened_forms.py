"""Forms of rows without a version that know what the row said when they were opened.

Such a row is written by others too: the chain, the owners' approvals, a tick, another tab. What the page showed is sent
along and compared, so that a value of another tab's yesterday never counts as a wish to go back to it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import cached_property

from permits_app.forms import AllowlistEntryForm, PolicyCageForm, SpendingLimitsForm
from permits_app.models import HaltSetting
from tools_app.core.outside_json import read_exact_json

OPENED: Final = "opened_as"
_LONGEST_OPENED: Final = 8_192


class OpenedRowForm(forms.ModelForm[Any]):
    """Refuses to save a row that says something else than when the page was opened."""

    opened_as = forms.CharField(required=False, widget=forms.HiddenInput())
    columns: tuple[str, ...] = ()
    """What is compared; without any, every field of the form is a column."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # As it is stored, before what was typed is put into the instance.
        self._stored = {} if self.instance._state.adding else self._read_columns()
        self.fields[OPENED].initial = json.dumps(self._stored, sort_keys=True)

    @cached_property
    def changed_data(self) -> list[str]:
        """What a person changed."""
        return [name for name in super().changed_data if name != OPENED]

    def clean(self) -> dict[str, Any]:
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

    def _read_columns(self) -> dict[str, str]:
        names = self.columns or [name for name in self.fields if name not in (OPENED, "golem")]
        return {name: str(getattr(self.instance, name)) for name in names}

    def _name(self, column: str) -> str:
        label = self.fields[column].label if column in self.fields else ""
        return str(label or column.replace("_", " ")).lower()


class OpenedLimitsForm(OpenedRowForm, SpendingLimitsForm):
    """Limits, as they were opened."""


class OpenedCageForm(OpenedRowForm, PolicyCageForm):
    """The cage, as it was opened."""


class OpenedEntryForm(OpenedRowForm, AllowlistEntryForm):
    """An entry of the allowlist, as it was opened."""


class OpenedHaltSettingForm(OpenedRowForm):
    """What a halt does, as it was opened."""

    class Meta:
        model = HaltSetting
        fields = ("golem", "unwind_on_halt", "sell_on_halt")


def _read_opened(text: str) -> dict[str, Any]:
    try:
        found = read_exact_json(text.encode(), most_bytes=_LONGEST_OPENED)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
