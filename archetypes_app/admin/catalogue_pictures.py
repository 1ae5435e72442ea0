"""Two pages that answer at a glance: who may ask whom, and which profile brings which categories."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from archetypes_app.admin.draw_delegation_graph import draw_graph
from archetypes_app.empty_categories import list_stocked
from tools_app.toolkit.enums import Category


class DelegationGraphPage:
    """The delegation graph of the archetypes a person may see, and a place to try an edge before making it."""

    def graph_view(self, request: HttpRequest) -> HttpResponse:
        """The picture; `of` puts one archetype in focus, `from` and `to` try a delegation. Changes nothing."""
        admin: Any = self  # Any: a mixin of admin pages
        visible = list(admin.get_queryset(request).order_by("name").values_list("name", flat=True))
        tried = (request.GET.get("from", ""), request.GET.get("to", ""))
        proposal = tried if all(name in visible for name in tried) else None
        chosen = request.GET.get("of", "")
        context = {
            **admin.admin_site.each_context(request),
            "title": "Who may ask whom",
            "opts": admin.opts,
            "picture": draw_graph(
                visible=frozenset(visible), chosen=chosen if chosen in visible else "", proposal=proposal
            ),
            "names": visible,
            "chosen": chosen,
            "tried_from": tried[0],
            "tried_to": tried[1],
        }
        return TemplateResponse(request, "admin/archetypes_app/archetype/graph.html", context)


class ProfileMatrixPage:
    """Profiles by categories on one page."""

    def matrix_view(self, request: HttpRequest) -> HttpResponse:
        """A table: a row per profile, a column per category that has a tool. Changes nothing."""
        admin: Any = self  # Any: a mixin of admin pages
        stocked = list_stocked()
        profiles = list(admin.get_queryset(request).select_related("owner").order_by("name"))
        held = {profile.pk: {*profile.categories, Category.DATA.value} for profile in profiles}
        rows = [
            {
                "profile": profile,
                "cells": [
                    {"category": category.value, "is_held": category.value in held[profile.pk]} for category in stocked
                ],
            }
            for profile in profiles
        ]
        context = {
            **admin.admin_site.each_context(request),
            "title": "Profiles and categories",
            "opts": admin.opts,
            "categories": [category.value.replace("_", " ") for category in stocked],
            "rows": rows,
        }
        return TemplateResponse(request, "admin/archetypes_app/toolprofile/matrix.html", context)
