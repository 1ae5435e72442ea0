"""Alerts as a Django app: channels and the lines they carry are rows."""

from __future__ import annotations

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    """Label `alerts`."""

    name = "golem_project.alerts"
    label = "alerts"
    verbose_name = "Alerts"
