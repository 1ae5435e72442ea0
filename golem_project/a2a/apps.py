"""A2A as a Django app: it has rows of its own, tasks and visitors."""

from __future__ import annotations

from django.apps import AppConfig


class A2AConfig(AppConfig):
    """Label `a2a`."""

    name = "golem_project.a2a"
    label = "a2a"
    verbose_name = "Other agents (A2A)"
