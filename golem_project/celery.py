"""The Celery application: heartbeats, simulations, commits and memory run as its tasks."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")

app = Celery("golem")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Threads of the web server look the application up too; without this only the main thread finds it.
app.set_default()
app.autodiscover_tasks(["tools_app", "memory_app", "permits_app"])
