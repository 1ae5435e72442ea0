"""Every edit an owner makes in the browser is a line in the golem's audit log, written with the change itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import models
from django.forms import ModelForm
from django.http import HttpRequest

from archetypes_app.audit_actor_names import name_actor
from tools_app.core import audit_log, clock


class AuditedEditMixin:
    """Appends `AdminEdit` for a saved form, with old and new values, and for a deletion, in the edit's transaction."""

    def find_golem_id(self, obj: object) -> UUID | None:
        """The golem a row belongs to; None keeps the edit out of the audit chains (built-ins belong to no golem)."""
        found = getattr(obj, "golem_id", None)
        return found if isinstance(found, UUID) else None

    def save_related(
        self,
        request: HttpRequest,
        form: Any,  # Any: Django hands on any form and row
        formsets: Any,  # Any: Django hands on any form and row
        change: bool,
    ) -> None:
        """Save as Django does, then write down what changed."""
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        fields = _describe_changes(form)
        rows = [_describe_rows(formset) for formset in formsets if formset.has_changed()]
        if fields or rows or not change:
            self._append(request, form.instance, "changed" if change else "added", fields, rows)

    def log_deletions(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> object:  # Any: rows of any model
        """Write down each deleted row; Django calls this before it deletes them."""
        lock_rows(queryset)
        for obj in queryset:
            self._append(request, obj, "deleted", {}, [])
        return super().log_deletions(request, queryset)  # type: ignore[misc]

    def _append(
        self,
        request: HttpRequest,
        obj: Any,  # Any: a row of any model
        what: str,
        fields: dict[str, object],
        rows: list[dict[str, object]],
    ) -> None:
        golem_id = self.find_golem_id(obj)
        if golem_id is None:
            return
        data: dict[str, object] = {"row": obj._meta.verbose_name, "name": str(obj), "did": what}
        if fields:
            data["fields"] = fields
        if rows:
            data["rows"] = rows
        audit_log.append(
            golem_id=golem_id, event="AdminEdit", actor=name_actor(request.user), data=data, now=clock.now()
        )


def lock_rows(rows: Iterable[models.Model]) -> None:
    """Hold what is about to be deleted: the audit entry about it comes behind it in the order of locks."""
    by_model: dict[type[models.Model], list[object]] = defaultdict(list)
    for row in rows:
        by_model[type(row)].append(row.pk)
    for model, keys in by_model.items():
        list(model._default_manager.select_for_update(no_key=True).filter(pk__in=keys).values_list("pk"))


def _describe_changes(form: ModelForm[Any]) -> dict[str, object]:  # Any: rows of any model
    return {
        name: {"from": _text(form[name].initial), "to": _text(form.cleaned_data.get(name))}
        for name in form.changed_data
        if name in form.cleaned_data
    }


def _describe_rows(formset: Any) -> dict[str, object]:  # Any: Django hands on any form and row
    return {
        "row": str(formset.model._meta.verbose_name),
        "added": [str(obj) for obj in formset.new_objects],
        "changed": [str(obj) for obj, _ in formset.changed_objects],
        "deleted": [str(obj) for obj in formset.deleted_objects],
    }


def _text(value: Any) -> str:  # Any: Django hands on any value
    if isinstance(value, models.QuerySet | list | tuple | set):
        return ", ".join(sorted(str(item) for item in value))
    return "" if value is None else str(value)
