"""Columns for words of people: whoever writes them, what nobody sees is not kept.

A direction character would turn an address round on the page where an owner approves it.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from tools_app.core.plain_text import PlainTextField
from tools_app.core.storable_text import make_plain


class _Plain(models.Field[Any, str]):  # Any: what is set is of any type
    """Takes text without control, direction and invisible characters. `django_path` is what it is to a migration."""

    django_path: str

    def to_python(self, value: object) -> Any:  # Any: Django's fields are generic in it
        """The text as it is kept; every way to the database leads through here."""
        text = super().to_python(value)
        return make_plain(text) if isinstance(text, str) else text

    def formfield(self, **given: Any) -> Any:  # Any: Django's own arguments of a field
        """A form takes it plain as well, so that what is asked again before it is saved is what is kept."""
        return super().formfield(**{"form_class": PlainTextField, **given})

    def deconstruct(self) -> Any:  # Any: Django's fields are generic in it
        """As Django's own column."""
        name, _, args, kwargs = super().deconstruct()
        return name, self.django_path, args, kwargs


class PlainCharField(_Plain, models.CharField[Any, str]):  # Any: what is set is of any type
    """One line of it."""

    django_path = "django.db.models.CharField"


class PlainTextColumn(_Plain, models.TextField[Any, str]):  # Any: what is set is of any type
    """Several lines of it."""

    django_path = "django.db.models.TextField"
