"""Shows the page that leads to every list the sidebar leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from golem_project.owner_pages.menu import MenuItem, list_machinery


@dataclass(frozen=True, slots=True)
class ListGroup:
    """One group of lists this person may see: title, icon and address of each."""

    title: str
    items: tuple[tuple[str, str, str], ...]


@require_safe
def show_machinery(request: HttpRequest) -> HttpResponse:
    """Every list behind the sidebar, in groups."""
    shelves = [ListGroup(group.title, _list_allowed(request, group.items)) for group in list_machinery()]
    context = {
        **admin.site.each_context(request),
        "title": "Machinery",
        "shelves": [shelf for shelf in shelves if shelf.items],
    }
    return TemplateResponse(request, "golem_project/machinery.html", context)


def _list_allowed(request: HttpRequest, items: Iterable[MenuItem]) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (item.title, item.icon, str(item.link))
        for item in items
        if item.permission is not None and item.is_seen(request)
    )
