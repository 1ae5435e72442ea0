"""A form's field for words of people: what they cannot see is not taken in."""

from __future__ import annotations

from django import forms

from tools_app.core.storable_text import make_plain


class PlainTextField(forms.CharField):
    """Free text without control, direction and invisible characters; of nothing else it is empty."""

    def to_python(self, value: object) -> str:
        """The text as it is kept."""
        cleaned = make_plain(super().to_python(value) or "")
        return cleaned.strip() if self.strip else cleaned
