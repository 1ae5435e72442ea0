"""The tabs of a golem's page, each at an address of its own, and the page of each refusal. They only tell; the form of
the settings is Django's.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse

from archetypes_app.models import Golem
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.models import DeniedCall
from permits_app.pages.golem_tabs import (
    Tab,
    build_agent,
    build_head,
    build_money,
    build_now,
    build_records,
    build_rules,
)
from permits_app.pages.refusals import describe_refusal
from tools_app.core import clock

_NAME = "archetypes_app_golem"


class TabPages:
    """Whoever sees the golem sees them; what changes something is offered to whoever may change it."""

    def list_tab_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses; the first tab stands at the form's own."""
        return [
            *(
                path(f"<uuid:golem_id>/{tab}/", wrap(view), name=f"{name}_{tab}")
                for tab, view in (
                    (Tab.MONEY, self.money_view),
                    (Tab.RULES, self.rules_view),
                    (Tab.AGENT, self.agent_view),
                    (Tab.RECORDS, self.records_view),
                    (Tab.SETTINGS, self.settings_view),
                )
            ),
            path("<uuid:golem_id>/refused/<int:refusal_id>/", wrap(self.refusal_view), name=f"{name}_refusal"),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: object = None
    ) -> HttpResponse:
        """What it does now. What is sent to this address is the form of the settings."""
        if request.method == "POST":
            return self.settings_view(request, object_id, form_url, extra_context)
        golem = as_golem_admin(self).get_seen_golem(request, object_id)
        return self._show_tab(request, golem, Tab.NOW, build_now(golem, now=clock.now()))

    def money_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What it holds, as the chain says it now."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        return self._show_tab(request, golem, Tab.MONEY, build_money(golem, now=clock.now()))

    def rules_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What it may do."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        return self._show_tab(request, golem, Tab.RULES, build_rules(golem, now=clock.now()))

    def agent_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """Who acts as it."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        return self._show_tab(request, golem, Tab.AGENT, build_agent(golem))

    def records_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What it did."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        return self._show_tab(request, golem, Tab.RECORDS, build_records(golem, now=clock.now()))

    def settings_view(
        self,
        request: HttpRequest,
        golem_id: Any,  # Any: a template's context
        form_url: str = "",
        extra_context: Any = None,  # Any: a template's context
    ) -> HttpResponse:
        """The form, the one tab with something to save."""
        golem = as_golem_admin(self).get_row(request, golem_id)
        context = {
            **self._frame(request, golem, Tab.SETTINGS),
            "head": build_head(golem, now=clock.now()),
            "show_save_and_add_another": False,
            "subtitle": None,
            **(extra_context or {}),
        }
        response: HttpResponse = super().change_view(request, str(golem_id), form_url, context)  # type: ignore[misc]
        return response

    def refusal_view(self, request: HttpRequest, golem_id: UUID, refusal_id: int) -> HttpResponse:
        """One refusal, with what would let it pass."""
        golem = as_golem_admin(self).get_seen_golem(request, golem_id)
        row = DeniedCall.objects.select_related("golem").filter(golem=golem, pk=refusal_id).first()
        if row is None:
            raise Http404("no such refusal")
        may_change = as_golem_admin(self).has_change_permission(request, golem)
        context = {
            **as_golem_admin(self).admin_site.each_context(request),
            "opts": as_golem_admin(self).opts,
            "title": "Refused",
            "golem": golem,
            "page": describe_refusal(row, may_change=may_change, now=clock.now()),
        }
        return TemplateResponse(request, "admin/golem/refusal.html", context)

    def _show_tab(self, request: HttpRequest, golem: Golem, tab: Tab, shown: object) -> HttpResponse:
        admin = as_golem_admin(self)
        context = {
            **admin.admin_site.each_context(request),
            **self._frame(request, golem, tab),
            "opts": admin.opts,
            "head": build_head(golem, now=clock.now()),
            "page": shown,
        }
        return TemplateResponse(request, f"admin/archetypes_app/golem/{'now' if tab is Tab.NOW else tab}.html", context)

    def _frame(self, request: HttpRequest, golem: Golem, tab: Tab) -> dict[str, object]:
        admin = as_golem_admin(self)
        return {
            "title": golem.name,
            "golem": golem,
            "tabs": [(each.words, reverse(f"admin:{_NAME}_{each}", args=[golem.pk]), each is tab) for each in Tab],
            "may_act": admin.has_change_permission(request, golem),
        }
