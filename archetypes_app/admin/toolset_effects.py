"""Shows what a change does to the tools golems reach before it is saved, and writes it to their audit logs.

The change is first made for real inside a savepoint and taken back, so the page shows exactly what saving would do.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.messages.storage.fallback import FallbackStorage
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from archetypes_app.audit_actor_names import name_actor
from archetypes_app.edit_conflicts import bump_version
from archetypes_app.forms import EDIT_CONFLICT
from archetypes_app.models import Golem
from archetypes_app.toolset import ToolsetInputs, read_inputs, resolve
from archetypes_app.toolset_diff import GolemEffect, diff_toolsets, record_change
from tools_app.core import clock

CONFIRMED = "_tools_seen"  # the field by which the diff page says that it was seen


class ToolsetEffectsMixin:
    """Shows the diff of reachable tools before a form is saved; afterwards records it and bumps the row's version."""

    def list_touched_golems(self, obj: Any) -> QuerySet[Golem]:  # Any: a row of any model
        """Golems whose tools may change when `obj` does."""
        raise NotImplementedError

    def name_subject(self, obj: Any) -> str:  # Any: a row of any model
        """What the audit log calls the row that was edited."""
        return f"{obj._meta.verbose_name} {obj}"

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: object = None
    ) -> HttpResponse:
        """Django's form; a post that changes somebody's tools is shown first and saved when it was seen."""
        if request.method == "POST" and object_id:
            effects = self._rehearse(request, object_id, form_url, extra_context)
            refusal = self.refuse_effects(request, object_id, effects)
            if refusal is not None:
                return refusal
            if effects and CONFIRMED not in request.POST:
                return self._show_diff(request, object_id, effects)
        response: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)  # type: ignore[misc]
        form = (getattr(response, "context_data", None) or {}).get("adminform")
        if form and form.form.has_error("__all__", code=EDIT_CONFLICT):
            response.status_code = 409
        return response

    def save_model(self, request: HttpRequest, obj: object, form: object, change: bool) -> None:
        """Note the toolsets as they are before the row changes."""
        before = {golem.pk: read_inputs(golem) for golem in self.list_touched_golems(obj)} if change else {}
        request.toolsets_before = before  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)  # type: ignore[misc]

    def save_related(
        self,
        request: HttpRequest,
        form: Any,  # Any: Django hands on any form and row
        formsets: Any,  # Any: Django hands on any form and row
        change: bool,
    ) -> None:
        """Save, then compare and record in the same transaction."""
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        if not change:
            return
        bump_version(form.instance)
        effects = self._compare(form.instance, request.toolsets_before)  # type: ignore[attr-defined]
        request.toolset_effects = effects  # type: ignore[attr-defined]
        record_change(
            effects, subject=self.name_subject(form.instance), actor=name_actor(request.user), now=clock.now()
        )

    def _compare(self, obj: object, before: dict[object, ToolsetInputs]) -> tuple[GolemEffect, ...]:
        effects = []
        for golem in self.list_touched_golems(obj):
            was, becomes = before.get(golem.pk) or read_inputs(golem), read_inputs(golem)
            diff = diff_toolsets(resolve(was), resolve(becomes))
            if not diff.is_empty:
                effects.append(GolemEffect(golem, was, becomes, diff))
        return tuple(effects)

    def refuse_effects(
        self, request: HttpRequest, object_id: str, effects: tuple[GolemEffect, ...]
    ) -> HttpResponse | None:
        """A shared row never gives a live golem more tools: that is asked for on the golem's own page."""
        widened = sorted(effect.golem.name for effect in effects if effect.golem.is_live and effect.diff.added)
        if not widened:
            return None
        messages.error(
            request,
            f"Live golems would get more tools by this ({', '.join(widened[:5])}). Give them on the golem's own page,"
            " where its owners approve it. Nothing was saved.",
        )
        return HttpResponseRedirect(request.path)

    def _rehearse(
        self, request: HttpRequest, object_id: str, form_url: str, extra_context: object
    ) -> tuple[GolemEffect, ...]:
        """What saving would change for golems; nothing when it would not save. It is taken back."""
        kept = request._messages  # type: ignore[attr-defined]
        request._messages = FallbackStorage(request)  # type: ignore[attr-defined]
        try:
            with transaction.atomic():
                super().changeform_view(request, object_id, form_url, extra_context)  # type: ignore[misc]
                transaction.set_rollback(True)
        finally:
            request._messages = kept  # type: ignore[attr-defined]
        effects: tuple[GolemEffect, ...] = getattr(request, "toolset_effects", ())
        request.toolset_effects = ()  # type: ignore[attr-defined]
        return effects

    def _show_diff(self, request: HttpRequest, object_id: str, effects: tuple[GolemEffect, ...]) -> HttpResponse:
        admin: Any = self  # Any: a mixin of admin pages
        visible = admin.list_choices(Golem, request)
        mine = set(visible.filter(pk__in=[effect.golem.pk for effect in effects]).values_list("pk", flat=True))
        context = {
            **admin.admin_site.each_context(request),
            "title": "What this changes",
            "opts": admin.opts,
            "subject": admin.get_object(request, object_id),
            "effects": [effect for effect in effects if effect.golem.pk in mine],
            "others": sum(effect.golem.pk not in mine for effect in effects),
            "fields": [
                (name, value)
                for name, values in request.POST.lists()
                for value in values
                if name != "csrfmiddlewaretoken"
            ],
            "confirmed": CONFIRMED,
        }
        return TemplateResponse(request, "admin/archetypes_app/toolset_diff.html", context)
