"""Reads what a valid form was given into a dataclass: the edge between Django's `cleaned_data` and typed values."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from django import forms

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def read_cleaned(kind: type[T], form: forms.BaseForm) -> T:
    """The form's values of the fields of `kind`, which its own fields have cleaned. Raises KeyError for another one."""
    return kind(**{field.name: form.cleaned_data[field.name] for field in fields(kind)})
