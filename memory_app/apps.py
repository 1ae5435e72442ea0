"""The memory app."""

from __future__ import annotations

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory_app"
    verbose_name = "Memory (Grimoire)"
