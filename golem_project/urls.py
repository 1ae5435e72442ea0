"""Every path this server answers."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from golem_project import status
from golem_project.alerts.installed_app import show_manifest, show_worker
from golem_project.alerts.views import show_channels
from golem_project.cage_set_up.set_up_pages import set_up_cage
from golem_project.help.views import show_document
from golem_project.metrics.page import show_metrics
from golem_project.oauth.pages import sign_in_agent
from golem_project.outside.views import show_services
from golem_project.owner_pages.all_lists import show_machinery
from golem_project.owner_pages.faucet_page import give_test_money
from golem_project.owner_pages.freshness_page import show_freshness
from golem_project.owner_pages.search import show_found
from golem_project.people.accept_invitation import join
from golem_project.people.sign_ins import show_sign_ins
from golem_project.pi import guide_views
from golem_project.stream.event_pages import EventPageView
from tools_app.pages.number_reading import show_number

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/cockpit/", include("golem_project.cockpit.urls")),
    path("admin/chat/", include("golem_project.chat.urls")),
    path("admin/faucet/<uuid:golem_id>/", admin.site.admin_view(give_test_money), name="faucet"),
    path("manifest.webmanifest", show_manifest, name="app_manifest"),
    path("admin/worker.js", show_worker, name="app_worker"),
    path("admin/alerts/", admin.site.admin_view(show_channels), name="alerts"),
    path("admin/services/", admin.site.admin_view(show_services), name="services"),
    path("admin/sign-ins/", admin.site.admin_view(show_sign_ins), name="sign_ins"),
    path("admin/sign-in-agent/", admin.site.admin_view(sign_in_agent), name="sign_in_agent"),
    path("join/", join, name="join"),
    path("admin/cage/<uuid:golem_id>/", admin.site.admin_view(set_up_cage), name="cage_set_up"),
    path("admin/find/", admin.site.admin_view(show_found), name="find"),
    path("admin/freshness/", admin.site.admin_view(show_freshness), name="freshness"),
    path("admin/number/", admin.site.admin_view(show_number), name="number"),
    path("admin/help/", admin.site.admin_view(show_document), {"name": "README"}, name="help_index"),
    path("admin/help/<path:name>/", admin.site.admin_view(show_document), name="help"),
    path("admin/machinery/", admin.site.admin_view(show_machinery), name="machinery"),
    path("admin/", admin.site.urls),
    path("api/v1/events", EventPageView.as_view(), name="events"),
    path("api/v1/", include("golem_project.pi.urls")),
    path("", include("golem_project.oauth.urls")),
    path("", include("golem_project.a2a.urls")),
    path("healthz", status.healthz, name="healthz"),
    path("readyz", status.readyz, name="readyz"),
    path("metrics", show_metrics, name="metrics"),
    path("about", status.about, name="about"),
    path("llms.txt", guide_views.show_short, name="llms"),
    path("llms-full.txt", guide_views.show_full, name="llms_full"),
    path("support.json", guide_views.show_support, name="support"),
    path("skills/<slug:name>.md", guide_views.show_skill, name="skill"),
    path("errors/", status.list_errors, name="errors"),
    path("errors/<slug:code>", status.describe_error, name="error"),
]

handler400 = "golem_project.pi.problem_pages.bad_request"
handler403 = "golem_project.pi.problem_pages.permission_denied"
handler404 = "golem_project.pi.problem_pages.page_not_found"
handler500 = "golem_project.pi.problem_pages.server_error"
