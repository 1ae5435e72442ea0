"""Shows the page that leads to every list the sidebar leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from golem_project.settings.admin_theme import MACHINERY


@dataclass(frozen=True, slots=True)
class ListGroup:
    """One group of lists this person may see: title, icon and address of each."""

    title: str
    items: tuple[tuple[str, str, str], ...]


@require_safe
def show_machinery(request: HttpRequest) -> HttpResponse:
    """Every list behind the sidebar, in groups."""
    shelves = [ListGroup(group["title"], _list_allowed(request, group["items"])) for group in MACHINERY]
    context = {
        **admin.site.each_context(request),
        "title": "Machinery",
        "shelves": [shelf for shelf in shelves if shelf.items],
    }
    return TemplateResponse(request, "golem_project/machinery.html", context)


def _list_allowed(request: HttpRequest, items: list[dict[str, object]]) -> tuple[tuple[str, str, str], ...]:
    found = []
    for item in items:
        may_see = item["permission"]
        if callable(may_see) and may_see(request):
            found.append((str(item["title"]), str(item["icon"]), str(item["link"])))
    return tuple(found)
