"""The page of a golem's memory: figures, errors by week, curves, and a search that shows why each row ranked there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from archetypes_app.ownership import has_power, is_operator, list_seen_golems
from archetypes_app.roles import Power
from memory_app.actions.purge import purge_everything
from memory_app.actions.scan_poison import scan_for_poison
from memory_app.admin.agent_written_marks import BY_AGENT
from memory_app.admin.archives import ArchiveViews, list_archive_lines
from memory_app.admin.plots import plot_errors_by_week, plot_retention
from memory_app.ask_memory_worker import request_query_grimoire
from memory_app.found_memories import FoundMemory, read_answer, read_found
from memory_app.models import Episode
from memory_app.retrieval import DECAY_WEIGHT
from memory_app.selectors import count_memory
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation

_STORES = ("episodes", "insights", "heuristics", "all")
_CURVES = 8


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One answer as the agent gets it, and why it stands where it does."""

    place: int
    text: str
    kind: str
    url: str
    score: str
    retention: str
    why: str
    is_unchecked: bool


class OverviewViews(ArchiveViews, OwnerScopedAdmin):
    """Pages beside the list of episodes: overview with search, a scan for poison, a purge of everything."""

    def get_urls(self) -> Any:  # Any: unfold has no types
        """Overview, scan and purge."""
        wrap = self.admin_site.admin_view
        return [
            path("memory/", wrap(self.overview_view), name="memory_app_episode_overview"),
            path("memory/<uuid:golem_id>/scan/", wrap(self.scan_view), name="memory_app_episode_scan"),
            path("memory/<uuid:golem_id>/purge/", wrap(self.purge_view), name="memory_app_episode_purge"),
            *self.list_archive_urls(wrap),
            *super().get_urls(),
        ]

    def overview_view(self, request: HttpRequest) -> HttpResponse:
        """One golem's memory, and a question put to it. Looking strengthens nothing."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        golems = list(self._list_seen(request).order_by("name")[:200])
        wanted = request.GET.get("golem", "")
        golem = next((each for each in golems if str(each.pk) == wanted), golems[0] if golems else None)
        now = clock.now()
        question, store = request.GET.get("q", ""), request.GET.get("store", "episodes")
        context: dict[str, object] = {
            **self.admin_site.each_context(request),
            "title": "Memory",
            "subtitle": None,
            "opts": self.opts,
            "golems": golems,
            "golem": golem,
            "question": question,
            "store": store,
            "stores": _STORES,
            "may_keep": golem is not None and self.may_act_for(request, golem),
        }
        if golem is not None:
            newest = Episode.objects.filter(golem=golem, archived_at__isnull=True, is_quarantined=False)
            context |= {
                "figures": count_memory(golem_id=golem.pk),
                "archives": list_archive_lines(golem),
                "error_plot": plot_errors_by_week(golem_ids=[golem.pk], now=now),
                "retention_plot": plot_retention(list(newest.order_by("-occurred_at")[:_CURVES]), now=now),
                **self._search(request, golem, question, store),
            }
        return TemplateResponse(request, "admin/memory_app/episode/overview.html", context)

    def scan_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Search this golem's memories for poison now, those scanned before too."""
        golem = self._get_golem(request, golem_id)
        back = f"{reverse('admin:memory_app_episode_overview')}?golem={golem.pk}"
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            done = scan_for_poison(now=clock.now(), golem_id=golem.pk, actor=name_actor(request.user), again=True)
            messages.success(request, f"{done.scanned} memories read, {done.quarantined} put into quarantine.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Search for poison",
            form=form,
            submit="Search",
            subject=golem,
            explanation="Memories whose text tries to steer the agent go to quarantine, with the reason on their page.",
            back_url=back,
        )

    def purge_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Delete everything this golem remembers."""
        golem = self._get_golem(request, golem_id, Power.ADMINISTER)
        back = f"{reverse('admin:memory_app_episode_overview')}?golem={golem.pk}"
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                done = purge_everything(
                    golem_id=golem.pk,
                    actor=name_actor(request.user),
                    reason=form.cleaned_data["reason"],
                    now=clock.now(),
                )
            except GolemError as error:
                return report_refusal(request, error, back)
            messages.success(request, f"{done.total} rows of memory are gone.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Purge the whole memory",
            form=form,
            submit="Purge everything",
            subject=golem,
            back_url=back,
            is_dangerous=True,
            explanation="Episodes, insights, strategies, directives and dreams are deleted for good. Permits, ledgers "
            "and the audit log stay.",
        )

    def _get_golem(self, request: HttpRequest, golem_id: UUID, power: Power = Power.OPERATE) -> Golem:
        if not request.user.has_perm("memory_app.change_episode"):
            raise PermissionDenied
        return self.find_golem_with(request, golem_id, power)

    def _list_seen(self, request: HttpRequest) -> QuerySet[Golem]:
        return list_seen_golems(request.user)

    def may_act_for(self, request: HttpRequest, golem: Golem) -> bool:
        """Whether this person may scan this golem's memory, keep and write it out."""
        may = request.user.has_perm("memory_app.change_episode")
        return may and (is_operator(request.user) or has_power(golem, request.user, Power.OPERATE))

    def _search(self, request: HttpRequest, golem: Golem, question: str, store: str) -> dict[str, object]:
        if not question.strip():
            return {}
        try:
            answer = read_answer(
                request_query_grimoire(
                    golem_id=golem.pk, query=question, store=store, limit=20, now=clock.now(), reinforce=False
                )
            )
        except GolemError as error:
            messages.error(request, error.detail)
            return {}
        rows = [read_found(row) for row in (*answer.episodes, *answer.insights, *answer.heuristics)]
        rows.sort(key=lambda row: float(row.score), reverse=True)
        return {
            "rows": [_explain(place, row) for place, row in enumerate(rows, start=1)],
            "mode": answer.mode,
            "mode_reason": answer.mode_reason,
            "searched": answer.searched,
        }


def _explain(place: int, row: FoundMemory) -> RankedRow:
    parts = row.score_parts
    model = "episode" if row.source == "episode" else "insight"
    if model == "episode":
        ranks = [
            f"{_ordinal(rank)} by {by}" if rank else f"not among the best by {by}"
            for rank, by in ((parts.text_rank, "words"), (parts.vector_rank, "meaning"))
        ]
        alike = f", similarity {parts.similarity[:5]}" if parts.similarity else ""
        why = f"{ranks[0]}, {ranks[1]}{alike}; {float(parts.fused):.0%} of the best"
    else:
        why = f"fused {parts.fused[:6]}, believed with confidence {parts.confidence}"
    kept = float(row.retention)
    lost = DECAY_WEIGHT * (1 - kept)
    why += f"; retention {kept:.0%} takes {lost:.0%} off"
    return RankedRow(
        place=place,
        text=row.content,
        kind=row.source,
        score=row.score[:6],
        retention=f"{kept:.0%}",
        why=why,
        is_unchecked=row.provenance.source in BY_AGENT,
        url=reverse(f"admin:memory_app_{model}_change", args=[row.id]),
    )


def _ordinal(rank: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{rank}{'th' if rank % 100 in (11, 12, 13) else endings.get(rank % 10, 'th')}"
