"""Finds what is no row: pages of the product, settings of a golem by their names, and places in the guides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.help.documents import DOCS, list_documents, make_anchor
from golem_project.owner_pages.menu import list_machinery, list_sidebar, read_items
from golem_project.owner_pages.search_hit import SearchHit
from golem_project.owner_pages.theme import list_account_pages
from permits_app.forms import GolemOfChainsForm, PolicyCageForm, SpendingLimitsForm

MOST: Final = 6
_HEADING: Final = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)
_NO_GUIDES: Final = ("decisions/", "history/")


def find_beside(request: HttpRequest, golems: QuerySet[Golem], words: str) -> tuple[SearchHit, ...]:
    """Pages, settings of `golems`, and guides whose names hold every one of `words`; at most MOST of each kind."""
    return (
        *list(_find_pages(request, words))[:MOST],
        *list(_find_settings(golems, words))[:MOST],
        *list(_find_guides(words))[:MOST],
    )


def _holds(name: str, words: str) -> bool:
    lowered = name.lower()
    return all(each in lowered for each in words.lower().split())


def _find_pages(request: HttpRequest, words: str) -> Iterator[SearchHit]:
    groups = [("", group.items) for group in list_sidebar()]
    groups += [(group.title, group.items) for group in list_machinery()]
    groups.append(("Your account", read_items(list_account_pages(request))))
    for where, items in groups:
        for item in items:
            if _holds(item.title, words) and item.is_seen(request):
                yield SearchHit("page", item.title, where, str(item.link))


def _find_settings(golems: QuerySet[Golem], words: str) -> Iterator[SearchHit]:
    rows = golems.select_related("spending_limits", "policy_cage").order_by("name")[:MOST]
    for golem in rows:
        for form, page in (
            (SpendingLimitsForm, _page_of(golem, "spending_limits", "spendinglimits")),
            (PolicyCageForm, _page_of(golem, "policy_cage", "policycage")),
            (GolemOfChainsForm, reverse("admin:archetypes_app_golem_settings", args=[golem.pk])),
        ):
            for name, field in form.base_fields.items():
                label = str(field.label or name.replace("_", " ")).capitalize()
                if page and _holds(label, words):
                    yield SearchHit("setting", label, golem.name, f"{page}#id_{name}")


def _page_of(golem: Golem, relation: str, model: str) -> str:
    row = getattr(golem, relation, None)
    return reverse(f"admin:permits_app_{model}_change", args=[row.pk]) if row is not None else ""


def _find_guides(words: str) -> Iterator[SearchHit]:
    for name, title, heading in _list_headings():
        if _holds(heading, words):
            yield SearchHit("help", heading, title, f"{reverse('help', args=[name])}#{make_anchor(heading)}")


@cache
def _list_headings() -> tuple[tuple[str, str, str], ...]:
    """Name of the guide, its title, and each of its headings. Decisions and history are no help."""
    found = []
    for name in list_documents():
        if not name.startswith(_NO_GUIDES):
            headings = _HEADING.findall((DOCS / f"{name}.md").read_text(encoding="utf-8"))
            found += [(name, headings[0] if headings else name, each) for each in headings]
    return tuple(found)
