"""Buttons of one memory: pin, archive, restore, quarantine, release, purge. Each asks for a reason."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.audit_actor_names import name_actor
from memory_app.actions.keep_or_archive import Keeping, keep_memory
from memory_app.actions.purge import purge_memories
from memory_app.models import Episode, Insight
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation

_EXPLAIN = {
    Keeping.PIN: "A pinned memory is never archived and no heuristic of its kind is moved.",
    Keeping.UNPIN: "It may fade and be archived again.",
    Keeping.ARCHIVE: "It is found no more unless a search asks for archived memories. Nothing is deleted.",
    Keeping.RESTORE: "It comes back as if it had just been retrieved.",
    Keeping.QUARANTINE: "The agent does not see it any more, and nothing is drawn from it.",
    Keeping.RELEASE: "The agent sees it again. Text that came from outside cannot be released.",
}
_PURGE = "purge"


class KeptMemoryAdmin(OwnerScopedAdmin):
    """Adds the pages of the buttons to the admin of episodes and of insights."""

    change_form_template = "admin/memory_app/memory.html"

    def get_urls(self) -> Any:  # Any: unfold has no types
        """One page a button."""
        name = f"memory_app_{self.opts.model_name}_keep"
        return [
            path("<uuid:object_id>/keep/<str:what>/", self.admin_site.admin_view(self.keep_view), name=name),
            *super().get_urls(),
        ]

    def may_keep(self, request: HttpRequest, row: Episode | Insight | None = None) -> bool:
        """Django's permission, and the row is theirs."""
        is_allowed = request.user.has_perm(f"memory_app.change_{self.opts.model_name}")
        return bool(is_allowed and (row is None or self._is_theirs(request, row, self.write_power)))

    def list_buttons(self, row: Episode | Insight) -> list[tuple[str, str]]:
        """The buttons that would do something to this row: address part and label."""
        wanted = [
            Keeping.UNPIN if row.is_pinned else Keeping.PIN,
            Keeping.RESTORE if row.archived_at else Keeping.ARCHIVE,
            Keeping.RELEASE if row.is_quarantined else Keeping.QUARANTINE,
        ]
        return [*((keeping.value, keeping.value.capitalize()) for keeping in wanted), (_PURGE, "Purge")]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """The row with its buttons and its curve."""
        row = self.get_object(request, object_id)
        extra = dict(extra_context or {})
        if row is not None:
            extra |= {"buttons": self.list_buttons(row) if self.may_keep(request, row) else [], **self.draw(row)}
        page: HttpResponse = super().change_view(request, object_id, form_url, extra)
        return page

    def draw(self, row: Any) -> dict[str, object]:  # Any: a row of any model
        """What the page shows beside the fields."""
        return {}

    def keep_view(self, request: HttpRequest, object_id: object, what: str) -> HttpResponse:
        """Ask why, then do it."""
        row = self.get_row(request, object_id)
        if not self.may_keep(request, row):
            raise PermissionDenied
        if what != _PURGE and what not in {keeping.value for keeping in Keeping}:
            raise Http404("no such button")
        back = reverse(f"admin:memory_app_{self.opts.model_name}_change", args=[row.pk])
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            return self._do(request, row, what, form.cleaned_data["reason"], back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"{what.capitalize()} this memory",
            form=form,
            submit=what.capitalize(),
            back_url=back,
            subject=row,
            is_dangerous=what in (_PURGE, Keeping.QUARANTINE),
            explanation="It is deleted for good; its hash and your reason stay in the audit log."
            if what == _PURGE
            else _EXPLAIN[Keeping(what)],
        )

    def _do(
        self,
        request: HttpRequest,
        row: Any,  # Any: a row of any model
        what: str,
        reason: str,
        back: str,
    ) -> HttpResponse:
        actor, now = name_actor(request.user), clock.now()
        try:
            if what == _PURGE:
                ids = {"episode_ids" if isinstance(row, Episode) else "insight_ids": [row.pk]}
                purge_memories(golem_id=row.golem_id, actor=actor, reason=reason, now=now, **ids)
                back = reverse(f"admin:memory_app_{self.opts.model_name}_changelist")
            else:
                keep_memory(memory=row, keeping=Keeping(what), actor=actor, reason=reason, now=now)
        except GolemError as error:
            return report_refusal(request, error, back)
        messages.success(request, f"Done: {what}.")
        return HttpResponseRedirect(back)
