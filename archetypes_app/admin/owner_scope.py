"""Limits each page of the admin to the rows a person may see or edit: those of golems in which they have a role.
Operators (superusers) see all.

One mixin decides lists, pages, choosers, autocompletes and popups, because all of them start from `get_queryset`
or from a form field built here. A row of somebody else answers like one that does not exist. What is asked with a POST
finds no row that this person may only look at, whatever page it is of: a page that forgets to ask cannot let them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NoReturn

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.http import Http404, HttpRequest

from archetypes_app.models import ApiKey, Archetype, Golem, ToolProfile
from archetypes_app.ownership import is_operator, list_golems_with, match_golems
from archetypes_app.roles import Power
from tools_app.admin.read_only import PlainAdmin

Scope = Callable[[Any], models.Q]  # Any: ASGI's messages are of no fixed type
_READING = ("GET", "HEAD", "OPTIONS")

# What an owner may choose in a form, by the model that is chosen. Apps above add theirs with `scope_choices`.
_CHOICES: dict[type[models.Model], Scope] = {
    Golem: lambda user: match_golems(user, Power.OPERATE),
    ApiKey: lambda user: models.Q(golem__in=list_golems_with(user, Power.OPERATE)),
    Archetype: lambda user: (
        models.Q(owner__isnull=True)
        | models.Q(owner=user)
        | models.Q(pk__in=list_golems_with(user, Power.OPERATE).values("archetype"))
    ),
    ToolProfile: lambda user: (
        models.Q(owner__isnull=True)
        | models.Q(owner=user)
        | models.Q(pk__in=list_golems_with(user, Power.OPERATE).values("profiles"))
    ),
    get_user_model(): lambda user: models.Q(pk=user.pk),
}


def scope_choices(model: type[models.Model], scope: Scope) -> None:
    """Say which rows of `model` an owner may choose in a form."""
    _CHOICES[model] = scope


def _read_columns(row: models.Model) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def _list_stamps(row: models.Model) -> list[Any]:  # Any: Django hands on any value
    return [field for field in row._meta.concrete_fields if getattr(field, "auto_now", False)]


class OwnerScopedAdmin(PlainAdmin):
    """Rows reached from the owner by `owner_path`; `has_shared_rows` adds those without an owner, read-only."""

    owner_path = "golem__owner"
    has_shared_rows = False
    write_power = Power.OPERATE
    """What a person must be allowed with a row's golem to change or act on the row."""

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:  # Any: rows of any model
        """The rows this person may see, or act on where the request is no GET."""
        rows: models.QuerySet[Any] = super().get_queryset(request)  # Any: rows of any model
        if is_operator(request.user):
            return rows
        mine = self._match_theirs(request.user, Power.SEE if request.method in _READING else self.write_power)
        if self.has_shared_rows:
            mine |= models.Q(**{f"{self.owner_path}__isnull": True})
        return rows.filter(mine)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # Any: a row of any model
        """Django's permission, and the row is theirs."""
        return super().has_change_permission(request, obj) and self._is_theirs(request, obj, self.write_power)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Django's permission, and the row is theirs."""
        return super().has_delete_permission(request, obj) and self._is_theirs(request, obj, self.write_power)

    def formfield_for_foreignkey(
        self,
        db_field: Any,  # Any: Django hands on any value
        request: HttpRequest,
        **kwargs: Any,  # Any: Django hands on any value
    ) -> object:
        """A chooser without other owners' rows."""
        kwargs.setdefault("queryset", self.list_choices(db_field.related_model, request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(
        self,
        db_field: Any,  # Any: Django hands on any value
        request: HttpRequest,
        **kwargs: Any,  # Any: Django hands on any value
    ) -> object:
        """A chooser without other owners' rows."""
        kwargs.setdefault("queryset", self.list_choices(db_field.related_model, request))
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def list_choices(
        self,
        model: type[models.Model],
        request: HttpRequest,
    ) -> models.QuerySet[Any]:  # Any: rows of any model
        """The rows of `model` this person may choose; none when nobody said which, so that nothing leaks by default."""
        rows = model._default_manager.all()
        if is_operator(request.user):
            return rows
        scope = _CHOICES.get(model)
        return rows.filter(scope(request.user)) if scope else rows.none()

    def get_object(
        self,
        request: HttpRequest,
        object_id: str,
        from_field: str | None = None,
    ) -> Any:  # Any: Django hands on any value
        """The row, which remembers how it was read."""
        found = super().get_object(request, object_id, from_field)
        if found is not None:
            found._as_read = copy.deepcopy(_read_columns(found))
        return found

    def save_model(
        self,
        request: HttpRequest,
        obj: Any,  # Any: a row of any model
        form: Any,  # Any: Django hands on any form and row
        change: bool,
    ) -> None:
        """Write what the edit changed and nothing else: whatever happened to the row meanwhile (a halt, a tick, a limit
        that fell) stays.
        """
        as_read = getattr(obj, "_as_read", None)
        if not change or as_read is None:
            super().save_model(request, obj, form, change)
            return
        moved = [name for name, value in _read_columns(obj).items() if value != as_read.get(name)]
        obj.save(update_fields=[*moved, *(field.attname for field in _list_stamps(obj))])

    def get_row(self, request: HttpRequest, object_id: Any) -> Any:  # Any: Django hands on any value
        """The row at a page's address, when this person may see it. Raises Http404."""
        found = self.get_object(request, str(object_id))
        if found is None and self._is_theirs(request, object_id, Power.SEE):
            raise PermissionDenied("your role in this golem does not allow this")
        if found is None:
            raise Http404(f"no such {self.opts.verbose_name}")
        return found

    def get_row_to_act_on(self, request: HttpRequest, object_id: object) -> Any:  # Any: a row of the page's model
        """The row at the address of what is done with it, also while that is only looked at. Raises Http404, and
        PermissionDenied where this person may only see it.
        """
        found = self.get_row(request, object_id)
        if self.is_only_seen(request, found):
            raise PermissionDenied("your role in this golem does not allow this")
        return found

    def is_only_seen(self, request: HttpRequest, row: object) -> bool:
        """Whether this person's role lets them see the row and not act on it. Its key will do; no row is none such."""
        return not self._is_theirs(request, row, self.write_power) and self._is_theirs(request, row, Power.SEE)

    def get_actions(self, request: HttpRequest) -> dict[str, object]:
        """What is done with ticked rows, where this person may act on any."""
        found: dict[str, object] = super().get_actions(request)
        return found if found and self._acts_on_some(request) else {}

    def get_actions_row(self, request: HttpRequest) -> list[object]:
        """The buttons of each row of the list, likewise."""
        found: list[object] = super().get_actions_row(request)
        return found if found and self._acts_on_some(request) else []

    def find_golem_with(
        self,
        request: HttpRequest,
        golem_id: Any,  # Any: Django hands on any value
        power: Power,
    ) -> Golem:
        """The golem at a page's address. Raises Http404, and PermissionDenied where this person may only see it."""
        golems = Golem.objects.select_related("archetype").filter(pk=golem_id)
        if is_operator(request.user):
            golem = golems.first()
        else:
            golem = golems.filter(match_golems(request.user, power)).first()
            if golem is None and golems.filter(match_golems(request.user, Power.SEE)).exists():
                raise PermissionDenied("your role in this golem does not allow this")
        if golem is None:
            raise Http404("no such golem")
        return golem

    def _is_theirs(self, request: HttpRequest, obj: object, power: Power) -> bool:
        if obj is None or is_operator(request.user):
            return True
        # Action URLs of the theme hand an id instead of a row.
        key = obj.pk if isinstance(obj, models.Model) else obj
        # A page that is looked at asks the same for each of its buttons; what acts asks anew each time.
        known: dict[object, bool] = request.__dict__.setdefault("_whose", {}) if request.method in _READING else {}
        asked = (self.model, str(key), power)
        if asked not in known:
            known[asked] = self._match_key(request.user, key, power)
        return known[asked]

    def _acts_on_some(self, request: HttpRequest) -> bool:
        if is_operator(request.user):
            return True
        known: dict[object, bool] = request.__dict__.setdefault("_acts_on", {})
        if self.model not in known:
            mine = self.model._default_manager.filter(self._match_theirs(request.user, self.write_power))
            known[self.model] = bool(mine.exists())
        return known[self.model]

    def _match_key(self, user: object, key: object, power: Power) -> bool:
        try:
            return bool(self.model._default_manager.filter(self._match_theirs(user, power), pk=key).exists())
        except (ValidationError, ValueError):  # the address holds no key of this model
            return False

    def _match_theirs(self, user: Any, power: Power) -> models.Q:  # Any: which model accounts have is a setting
        """Rows that are this person's: their own, and those of golems with which they may do that."""
        if self.model is Golem:
            return match_golems(user, power)
        through = self.owner_path.removesuffix("__owner")
        if through != self.owner_path:
            return models.Q(**{f"{through}__in": list_golems_with(user, power)})
        return models.Q(**{self.owner_path: user.pk})

    def _get_obj_does_not_exist_redirect(
        self,
        request: HttpRequest,
        opts: Any,  # Any: Django hands on any value
        object_id: str,
    ) -> NoReturn:
        raise Http404(f"no such {opts.verbose_name}")
