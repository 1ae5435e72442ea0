"""The Celery application: heartbeats, simulations, commits and memory run as its tasks."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_init
from django.db import close_old_connections

from tools_app.simulation.select import warm_up

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")

_NEVER = 2**31
_SIMULATING_QUEUES = frozenset({"simulation", "commit"})

app = Celery("golem")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery closes the whole connection pool around every task of a prefork worker, which costs each preview two
# new connections. Handing the connection back to the pool is enough, and is done below.
app.conf["CELERY_DB_REUSE_MAX"] = _NEVER
# Threads of the web server look the application up too; without this only the main thread finds it.
app.set_default()
app.autodiscover_tasks(["tools_app", "memory_app", "permits_app", "golem_project.heartbeat", "golem_project.stream"])


@worker_init.connect
def warm_engines(sender: Any = None, **_: Any) -> None:
    """Import the engine in process before a simulating worker forks, so that none of its first plans waits for it."""
    if _SIMULATING_QUEUES & set(sender.app.amqp.queues.consume_from):
        warm_up()


@task_prerun.connect
@task_postrun.connect
def return_connections(**_: Any) -> None:
    """Give database connections back to the pool, which checks them before it hands them out again."""
    close_old_connections()
