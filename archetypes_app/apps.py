"""The archetypes app."""

from __future__ import annotations

from django.apps import AppConfig


class ArchetypesConfig(AppConfig):
    name = "archetypes_app"
    verbose_name = "Golems and archetypes"
