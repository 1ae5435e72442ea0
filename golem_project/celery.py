"""The Celery application: heartbeats, simulations, commits and memory run as its tasks."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
)
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections

from golem_project.metrics import measured_tasks
from golem_project.metrics.counting import TALLY
from golem_project.middleware.audit_blocked_flows import WatchedTask
from golem_project.runtime import process_name, queue_waits
from golem_project.runtime.memory_limit import BEAT, CHILD, WORKER, MemoryWatch
from golem_project.runtime.trace_export import begin_to_export
from tools_app.core import clock, trace_spans
from tools_app.simulation.select import warm_up

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")

_NEVER = 2**31
_COMMIT_QUEUE = "commit"
_SIMULATING_QUEUES = frozenset({"simulation", "heartbeat", _COMMIT_QUEUE})
_MEMORY_QUEUES = frozenset({"memory"})
# Nobody's money waits for an episode: where processors are short, previews, commits and ticks come first.
_MEMORY_NICENESS = 10
_SHARE_OF_SESSION = Path("/proc/self/autogroup")

app = Celery("golem", task_cls=WatchedTask, amqp="golem_project.runtime.queue_transport:Queues")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery closes the whole connection pool around every task of a prefork worker, which costs each preview two
# new connections. Handing the connection back to the pool is enough, and is done below.
app.conf["CELERY_DB_REUSE_MAX"] = _NEVER
# The words for an answer are for a line of the log that is not written; they took longer than storing it.
app.Task.resultrepr_maxsize = 1
# Threads of the web server look the application up too; without this only the main thread finds it.
app.set_default()
app.autodiscover_tasks(
    [
        "tools_app",
        "memory_app",
        "permits_app",
        "golem_project.alerts",
        "golem_project.heartbeat",
        "golem_project.stream",
        "golem_project.chat",
        "golem_project.a2a",
        "golem_project.people",
    ]
)


@worker_init.connect
@beat_init.connect
def check_first(**_: object) -> None:
    """Neither a worker nor beat starts on a graph that breaks its rules."""
    # Loaded with the tasks, once models are there.
    from golem_project.runtime.start_conditions import check_before_serving

    try:
        check_before_serving()
    except ImproperlyConfigured as error:
        # Celery swallows what a receiver raises.
        raise SystemExit(str(error)) from None


@worker_init.connect
def name_worker(sender: Any = None, **_: object) -> None:  # Any: Celery has no types
    """Its sessions at the database and its lines of JSON tell which worker it is."""
    process_name.call_it(f"worker {str(sender.hostname).partition('@')[0]}")


@beat_init.connect
def name_beat(**_: object) -> None:
    """And beat's."""
    process_name.call_it("beat")


@worker_init.connect
def hold_clock(**_: object) -> None:
    """No worker ends a wait before the database's clock does. Beat follows its own: it sends, and ends nothing."""
    # Loaded with the tasks, once models are there.
    from golem_project.runtime.database_clock import begin_to_hold

    begin_to_hold()


@worker_init.connect
def warm_engines(sender: Any = None, **_: object) -> None:  # Any: Celery has no types
    """Import the engine in process before a simulating worker forks, so that none of its first plans waits for it."""
    if _SIMULATING_QUEUES & set(sender.app.amqp.queues.consume_from):
        warm_up()


@worker_process_init.connect
@worker_ready.connect
def keep_what_is_loaded(**_: object) -> None:
    """What is loaded by now stays for good: no search for garbage goes through it again in the middle of a preview."""
    gc.collect()
    gc.freeze()


@worker_ready.connect
def watch_memory_of_worker(sender: Any = None, **_: object) -> None:  # Any: Celery has no types
    """A worker that takes too much ends between two tasks (`golem_project.runtime.memory_limit`)."""
    MemoryWatch(WORKER, f"worker {str(sender.hostname).partition('@')[0]}").start()


@worker_process_init.connect
def watch_memory_of_child(**_: object) -> None:
    """A child is told of; Celery ends it between two tasks."""
    MemoryWatch(CHILD, "a child of a worker").start()


@beat_init.connect
def watch_memory_of_beat(**_: object) -> None:
    """Beat too."""
    MemoryWatch(BEAT).start()


@worker_process_init.connect
@worker_ready.connect
def hand_counts_on(**_: object) -> None:
    """What this process counts is told with what the others do."""
    TALLY.begin()


@worker_process_init.connect
@worker_ready.connect
def export_spans(**_: Any) -> None:  # Any: Celery has no types
    """What this process does step by step is told where a collector is named."""
    begin_to_export()


@before_task_publish.connect
def say_what_led_to_it(headers: Any = None, **_: Any) -> None:  # Any: Celery has no types
    """A task belongs to the trace of who sends it."""
    name = trace_spans.name_current()
    if isinstance(headers, dict) and name is not None:
        headers[trace_spans.HEADER] = name


@before_task_publish.connect
def say_when_it_was_sent(headers: object = None, **_: object) -> None:
    """A task that waits can tell for how long."""
    if isinstance(headers, dict):
        queue_waits.stamp(headers, now=clock.now())


@task_prerun.connect
def measure_begin(task: object = None, **_: object) -> None:
    """A task was taken."""
    measured_tasks.note_begin(task)


@task_postrun.connect
def measure_end(task: Any = None, state: Any = None, **_: object) -> None:  # Any: Celery has no types
    """A task ended."""
    measured_tasks.note_end(task, state)


_following: list[Any] = []  # Any: Celery has no types


@worker_ready.connect
def follow_chains(sender: Any = None, **_: object) -> None:  # Any: Celery has no types
    """A worker of commits is a candidate to follow the chains too, so that nobody has to start a follower."""
    if _COMMIT_QUEUE in set(sender.app.amqp.queues.consume_from):
        # Loaded with the tasks, once models are there.
        from permits_app.tasks import resume_left_behind, start_followers

        resume_left_behind()
        _following.append(start_followers())


@worker_ready.connect
def open_keys_ahead(sender: Any = None, **_: object) -> None:  # Any: Celery has no types
    """A worker of commits opens the keys that signed lately, beside its first tasks."""
    if _COMMIT_QUEUE in set(sender.app.amqp.queues.consume_from):
        from permits_app.tasks import open_keys_ahead as begin

        begin()


@worker_shutdown.connect
def stop_following(**_: object) -> None:
    """Another worker's candidate takes over at once."""
    while _following:
        _following.pop().stop()


@worker_init.connect
def give_way(sender: Any = None, **_: object) -> None:  # Any: Celery has no types
    """Let a worker of memory alone have what processor time the others leave; what it starts inherits that."""
    if set(sender.app.amqp.queues.consume_from) != _MEMORY_QUEUES:
        return
    os.nice(_MEMORY_NICENESS)
    if os.getsid(0) == os.getpid() and _SHARE_OF_SESSION.exists():
        # Linux shares processors out between sessions first; inside one of its own, niceness alone gives way to nobody.
        _SHARE_OF_SESSION.write_text(str(_MEMORY_NICENESS))


@worker_ready.connect
def mend_at_start(**_: object) -> None:
    """A worker that starts may follow one whose clock was set back before it ended."""
    # Loaded with the tasks, once models are there.
    from golem_project.runtime.future_times import mend_future_rows

    mend_future_rows(now=clock.now())


@task_prerun.connect
def mend_after_jump(**_: object) -> None:
    """Before it does anything else: compare a clock that jumped, and bring back what it wrote before its clock
    was set back.
    """
    from golem_project.runtime.database_clock import follow_database

    follow_database()
    if clock.take_set_back():
        from golem_project.runtime.future_times import mend_after_set_back

        mend_after_set_back(now=clock.now())


@task_prerun.connect
@task_postrun.connect
def return_connections(**_: object) -> None:
    """Give database connections back to the pool, which checks them before it hands them out again."""
    close_old_connections()
