"""Archives of a golem's memory for its owner: one is written by a button, and each is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from archetypes_app.audit_actor_names import name_actor
from archetypes_app.models import Golem
from memory_app.actions.export_grimoire import archive_folder, export_grimoire, list_archives
from memory_app.archive_file import find_archive
from memory_app.errors import GrimoireFileRefused
from tools_app.core import clock
from tools_app.pages.html import show_age

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ArchiveLine:
    """One archive in a list."""

    name: str
    url: str
    kilobytes: int
    age: SafeString


def list_archive_lines(golem: Golem) -> list[ArchiveLine]:
    """The newest archives of `golem`."""
    lines = []
    for found in list_archives(golem.pk)[:MOST_SHOWN]:
        facts = found.stat()
        url = reverse("admin:memory_app_episode_archive", args=[golem.pk, found.name])
        age = show_age(datetime.fromtimestamp(facts.st_mtime, UTC))
        lines.append(ArchiveLine(found.name, url, -(-facts.st_size // 1_024), age))
    return lines


class ArchiveViews:
    """Pages of the memory's admin about its archives; `_get_golem` says who may."""

    def list_archive_urls(self, wrap: Callable[[Any], Any]) -> list[object]:  # Any: Django hands on any value
        """Their addresses."""
        return [
            path(
                "memory/<uuid:golem_id>/archives/", wrap(require_POST(self.write_view)), name="memory_app_episode_write"
            ),
            path(
                "memory/<uuid:golem_id>/archives/<str:name>",
                wrap(self.download_view),
                name="memory_app_episode_archive",
            ),
        ]

    def write_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Write an archive now."""
        owner: Any = self  # Any: which model accounts have is a setting
        golem: Golem = owner._get_golem(request, golem_id)
        done = export_grimoire(
            golem_id=golem.pk, include_decayed=True, min_percent=0, actor=name_actor(request.user), now=clock.now()
        )
        told = f"{done.archive.path.name} holds {done.episodes} episodes and {done.insights} insights."
        messages.success(request, told)
        return HttpResponseRedirect(f"{reverse('admin:memory_app_episode_overview')}?golem={golem.pk}#archives")

    def download_view(self, request: HttpRequest, golem_id: UUID, name: str) -> FileResponse:
        """One archive as a file; another golem's answers like none."""
        owner: Any = self  # Any: which model accounts have is a setting
        golem: Golem = owner._get_golem(request, golem_id)
        try:
            found = find_archive(folder=archive_folder(golem.pk), name=name)
        except GrimoireFileRefused as error:
            raise Http404(error.detail) from None
        answer = FileResponse(found.open("rb"), as_attachment=True, filename=found.name)
        answer["Cache-Control"] = "no-store"
        return answer
