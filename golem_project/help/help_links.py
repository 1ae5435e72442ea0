"""Adds to every page the link to the paragraph of the guides that explains it."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from golem_project.help.paragraphs import find_paragraph


def link_help(request: HttpRequest) -> dict[str, str]:
    """`help_url`, where there is a paragraph."""
    match = getattr(request, "resolver_match", None)
    found = find_paragraph(match.view_name) if match is not None and match.view_name else None
    if found is None:
        return {}
    name, anchor = found
    page = reverse("help", args=[name])
    return {"help_url": f"{page}#{anchor}" if anchor else page}
