"""The Celery application: heartbeats, simulations, commits and memory run as its tasks."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import task_postrun, task_prerun
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")

_NEVER = 2**31

app = Celery("golem")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery closes the whole connection pool around every task of a prefork worker, which costs each preview two
# new connections. Handing the connection back to the pool is enough, and is done below.
app.conf["CELERY_DB_REUSE_MAX"] = _NEVER
# Threads of the web server look the application up too; without this only the main thread finds it.
app.set_default()
app.autodiscover_tasks(["tools_app", "memory_app", "permits_app", "golem_project.heartbeat", "golem_project.stream"])


@task_prerun.connect
@task_postrun.connect
def return_connections(**_: Any) -> None:
    """Give database connections back to the pool, which checks them before it hands them out again."""
    close_old_connections()
