"""Serves what makes the pages an app that a phone installs: its manifest, and the worker that shows what is pushed."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from golem_project.settings.environment import BASE_DIR

_WORKER = BASE_DIR / "golem_project" / "static" / "golem" / "worker.js"
_SIZES = (192, 512)


@require_safe
@cache_control(max_age=3_600)
def show_manifest(request: HttpRequest) -> JsonResponse:
    """The web app manifest: a name, an icon, and where it begins."""
    images = [
        {"src": static(f"golem/mark-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png", "purpose": "any"}
        for size in _SIZES
    ]
    told = {
        "name": "Golem",
        "short_name": "Golem",
        "description": "What your agents may do with your money, and what needs you",
        "id": reverse("admin:index"),
        "start_url": reverse("admin:index"),
        "scope": "/",
        "display": "standalone",
        "background_color": "#101312",
        "theme_color": "#1d6f63",
        "icons": [*images, {**images[-1], "purpose": "maskable"}],
        "shortcuts": [{"name": "What needs you", "url": reverse("admin:permits_app_changerequest_inbox")}],
    }
    return JsonResponse(told, content_type="application/manifest+json")


@require_safe
def show_worker(request: HttpRequest) -> HttpResponse | FileResponse:
    """The worker, at an address below which the admin's pages lie: it has no more reach than its own folder."""
    answer = FileResponse(_WORKER.open("rb"), content_type="text/javascript; charset=utf-8")
    answer["Cache-Control"] = "no-cache"
    return answer
