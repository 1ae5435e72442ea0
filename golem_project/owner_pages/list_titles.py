"""Titles each list as the sidebar calls it, instead of "Select … to change"."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from golem_project.owner_pages.menu import list_machinery, list_sidebar


class PageTitles:
    """Names the admin's lists."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_template_response(self, request: HttpRequest, response: TemplateResponse) -> TemplateResponse:
        """Where a list is shown, its title is the sidebar's, or the plural of its rows."""
        context = response.context_data
        if context and "cl" in context:
            plural = str(context["cl"].opts.verbose_name_plural)
            context["title"] = dict(_list_named()).get(request.path) or plural[:1].upper() + plural[1:]
        return response


def _list_named() -> Iterator[tuple[str, str]]:
    for group in (*list_sidebar(), *list_machinery()):
        for item in group.items:
            yield str(item.link), item.title
