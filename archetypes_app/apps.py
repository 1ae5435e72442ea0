"""The archetypes app."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class ArchetypesConfig(AppConfig):
    name = "archetypes_app"
    verbose_name = "Golems and archetypes"

    def ready(self) -> None:
        """Register the system checks; they need the models."""
        import_module("archetypes_app.checks")
