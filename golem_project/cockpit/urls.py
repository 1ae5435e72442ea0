"""The pages stand inside the admin: its login, its look."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from golem_project.cockpit import views

_wrap = admin.site.admin_view

urlpatterns = [
    path("", _wrap(views.show_fleet), name="fleet"),
    path("parts/", _wrap(views.show_fleet_parts), name="fleet_parts"),
    path("<uuid:golem_id>/", _wrap(views.show_cockpit), name="cockpit"),
    path("<uuid:golem_id>/parts/", _wrap(views.show_cockpit_parts), name="cockpit_parts"),
    path("<uuid:golem_id>/risks/", _wrap(views.show_risks), name="risks"),
    path("<uuid:golem_id>/strategies/", _wrap(views.show_strategies), name="try_strategies"),
]
