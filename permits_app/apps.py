"""The permits app."""

from __future__ import annotations

from django.apps import AppConfig


class PermitsConfig(AppConfig):
    name = "permits_app"
    verbose_name = "Permits and safety"
