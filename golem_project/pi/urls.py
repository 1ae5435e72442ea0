"""Paths of the agent API, under /api/v1/."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from golem_project.pi import lookup_views, views
from golem_project.pi.cached_pages import kept_answer

urlpatterns = [
    path("pi/preview_action", views.PreviewActionView.as_view(), name="preview_action"),
    path("pi/commit_action", views.CommitActionView.as_view(), name="commit_action"),
    path("pi/cancel_action", views.CancelActionView.as_view(), name="cancel_action"),
    path("pi/query_state", views.QueryStateView.as_view(), name="query_state"),
    path("pi/search_context", views.SearchContextView.as_view(), name="search_context"),
    path("pi/query_grimoire", views.QueryGrimoireView.as_view(), name="query_grimoire"),
    path("pi/update_directive", views.UpdateDirectiveView.as_view(), name="update_directive"),
    path("pi/emergency_halt", views.EmergencyHaltView.as_view(), name="emergency_halt"),
    path("pi/manifest", lookup_views.ManifestView.as_view(), name="manifest"),
    path("pi/permits", lookup_views.PermitListView.as_view(), name="permits"),
    path("pi/permits/<uuid:permit_id>", lookup_views.PermitView.as_view(), name="permit"),
    path("pi/<str:name>", views.UnknownToolView.as_view(), name="unknown_tool"),
    path("schema", kept_answer(parameters=("format", "lang"))(SpectacularAPIView.as_view()), name="schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
]
