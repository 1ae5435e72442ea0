"""The event stream as a Django app: it has rows of its own, webhooks and their deliveries."""

from __future__ import annotations

from django.apps import AppConfig


class StreamConfig(AppConfig):
    """Label `stream`."""

    name = "golem_project.stream"
    label = "stream"
    verbose_name = "Event stream"
