"""Gives the admin's theme its first page and the label in its header."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from archetypes_app.demo_golems import APART, link_to
from archetypes_app.ownership import may_own
from golem_project.owner_pages.first_page import LOCAL_CHAIN_ID, build_board, show_machinery
from golem_project.settings.admin_theme import ACCOUNT_PAGES, OWNER_PAGES
from tools_app.core import clock


def fill_dashboard(request: HttpRequest, context: dict[str, object]) -> dict[str, object]:
    """Put the board into the index page's context."""
    is_with_apart = APART in request.GET
    board = build_board(request.user, now=clock.now(), is_with_apart=is_with_apart)
    context["apart_url"] = link_to(request.GET, is_with_apart=not is_with_apart)
    context["board"], context["machinery"] = board, show_machinery(board)
    context["title"] = "Overview"
    return context


def list_account_pages(request: HttpRequest) -> list[dict[str, object]]:
    """The pages of a person's own account that they may open."""
    return [*ACCOUNT_PAGES, *(OWNER_PAGES if may_own(request.user) else [])]


def describe_environment(request: HttpRequest) -> list[str] | None:
    """A label in the header while the local chain is configured."""
    return ["local chain", "info"] if LOCAL_CHAIN_ID in settings.GOLEM_RPC_URLS else None


def leave_colors(request: HttpRequest) -> dict[str, dict[str, str]]:
    """None for the theme to write into each page; `golem/theme.css` has them."""
    return {}
