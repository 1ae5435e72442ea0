"""A guide as a page of the admin."""

from __future__ import annotations

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from golem_project.help.documents import read_document


@require_safe
def show_document(request: HttpRequest, name: str) -> HttpResponse:
    """The guide of that name. Raises Http404."""
    document = read_document(name)
    if document is None:
        raise Http404("no such guide")
    context = {**admin.site.each_context(request), "title": document.title, "document": document}
    return TemplateResponse(request, "golem_project/help/document.html", context)
