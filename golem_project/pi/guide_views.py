"""Serves the guides for models over HTTP, the same for everybody."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from golem_project.pi.cached_pages import kept_answer
from golem_project.pi.guides import build_support, write_full, write_short, write_skill

_TEXT = "text/plain; charset=utf-8"
_MARKDOWN = "text/markdown; charset=utf-8"
_SECONDS = 300


@require_safe
@kept_answer()
@cache_control(public=True, max_age=_SECONDS)
def show_short(request: HttpRequest) -> HttpResponse:
    """llms.txt."""
    return HttpResponse(write_short(), content_type=_TEXT)


@require_safe
@kept_answer()
@cache_control(public=True, max_age=_SECONDS)
def show_full(request: HttpRequest) -> HttpResponse:
    """llms-full.txt."""
    return HttpResponse(write_full(), content_type=_TEXT)


@require_safe
@kept_answer()
@cache_control(public=True, max_age=_SECONDS)
def show_support(request: HttpRequest) -> HttpResponse:
    """The support matrix."""
    return JsonResponse(build_support())


@require_safe
@kept_answer()
@cache_control(public=True, max_age=_SECONDS)
def show_skill(request: HttpRequest, name: str) -> HttpResponse:
    """The skill file of one built-in archetype."""
    text = write_skill(name)
    if text is None:
        raise Http404
    return HttpResponse(text, content_type=_MARKDOWN)
