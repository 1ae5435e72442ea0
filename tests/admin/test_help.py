"""Each page leads to the paragraph of the guides that explains it, and the guides are pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import URLPattern, URLResolver

from archetypes_app.owner_group import ensure_owner_group
from golem_project.help.documents import DOCS, read_document
from golem_project.help.paragraphs import PARAGRAPHS, find_paragraph
from golem_project.help.static_pages import write_pages
from golem_project.urls import urlpatterns
from tests import factories


def list_names(patterns: Any, prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from list_names(pattern.url_patterns, prefix)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield prefix + pattern.name


def list_pages() -> list[str]:
    """The names of every address of the admin and of our own pages beside it."""
    beside: list[Any] = list(urlpatterns)
    own = [each for each in beside if str(each.pattern).startswith("admin/") and str(each.pattern) != "admin/"]
    return sorted({*list_names(admin.site.get_urls(), "admin:"), *list_names(own)})


def test_every_page_has_its_paragraph() -> None:
    pages = list_pages()
    assert len(pages) > 150
    assert sorted({name for name in pages if find_paragraph(name) is None}) == []


@pytest.mark.parametrize("place", sorted(set(PARAGRAPHS.values())), ids="#".join)
def test_every_paragraph_that_is_pointed_at_is_there(place: tuple[str, str]) -> None:
    name, anchor = place
    document = read_document(name)
    assert document is not None, name
    assert anchor == "" or anchor in document.anchors, sorted(document.anchors)


def test_every_entry_belongs_to_a_page() -> None:
    pages = list_pages()
    assert [known for known in PARAGRAPHS if not any(page.startswith(known) for page in pages)] == []


@pytest.fixture
def browser(db: None) -> Client:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(owner)
    return client


def test_a_page_links_to_its_paragraph_and_the_guide_opens(browser: Client) -> None:
    page = browser.get("/admin/permits_app/changerequest/inbox/").content.decode()
    assert 'href="/admin/help/how-to/approve-a-change/"' in page
    guide = browser.get("/admin/help/how-to/approve-a-change/").content.decode()
    assert 'id="a-change-of-the-contract"' in guide and 'href="/admin/help/how-to/invite-people/"' in guide


def test_every_guide_becomes_a_page_without_a_script(browser: Client) -> None:
    for path in sorted([*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")]):
        document = read_document(str(path.relative_to(DOCS).with_suffix("")))
        assert document is not None and document.title and "<script" not in document.html, path


def test_all_documents_become_static_pages_whose_links_lead_somewhere(tmp_path: Path) -> None:
    pages = write_pages(tmp_path)
    assert {tmp_path / each for each in ("index.html", "how-to/let-a-golem-live.html", "decisions/index.html")} <= set(
        pages
    )
    absent = []
    for page in pages:
        for target in re.findall(r'(?:href|src)="([^"#]*)', page.read_text()):
            if target and "://" not in target and not (page.parent / target).exists():
                absent.append((page.name, target))
    assert absent == []


def test_the_server_shows_the_index_of_documents(browser: Client) -> None:
    assert 'href="/admin/help/concepts/"' in browser.get("/admin/help/").content.decode()


@pytest.mark.parametrize("name", ["../README", "how-to/../../README", "nothing", "decisions/../../pyproject"])
def test_what_is_no_guide_is_not_served(browser: Client, name: str) -> None:
    assert read_document(name) is None
    assert browser.get(f"/admin/help/{name}/").status_code == 404


def test_a_stranger_reads_no_guide_inside_the_admin() -> None:
    assert Client().get("/admin/help/concepts/").status_code == 302
