"""Reads what a form has into types: its values, those of them that are valid, and its fields by name and kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from django import forms

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="DataclassInstance")
F = TypeVar("F", bound=forms.Field)


def read_cleaned(kind: type[V], form: forms.BaseForm) -> V:
    """The form's values of the fields of `kind`, which its own fields have cleaned. Raises KeyError for another one."""
    return kind(**{field.name: form.cleaned_data[field.name] for field in fields(kind)})


def read_valid(kind: type[V], cleaned: Mapping[str, object]) -> V:
    """The values of the fields of `kind`, which the form's own fields have cleaned. What is not valid, or no field of
    the form, is as `kind` has it.

    Raises TypeError where `kind` says nothing of it.
    """
    return kind(**{field.name: cleaned[field.name] for field in fields(kind) if field.name in cleaned})


def get_field(form: forms.BaseForm, kind: type[F], name: str) -> F:
    """A field of the form. Raises KeyError where there is none of this name, TypeError where it is of another kind."""
    field = form.fields[name]
    if not isinstance(field, kind):
        raise TypeError(f"{name} is a {type(field).__name__}, no {kind.__name__}")
    return field
