"""No door forgets to tell what was kept from a sink: tasks and pages have it by their class and middleware, and who
works beside them is listed here with how it does.
"""

from __future__ import annotations

import ast

from celery.app.trace import task_has_custom
from django.conf import settings

from golem_project.celery import app
from golem_project.middleware.audit_blocked_flows import WatchedRequests, WatchedTask
from tests.architecture.sources import ROOT, dotted, walk

OPENERS = {
    "golem_project/middleware/audit_blocked_flows.py": "every request that Django answers, and every task",
    "golem_project/stream/in_thread.py": "doors in front of Django: event streams and A2A",
    "golem_project/heartbeat/cycle.py": "a tick, by its own name",
    "permits_app/execution/follower_threads.py": "each look of who follows a chain",
}
"""Where a watch is opened; `manage.py` opens one around each command."""

THREADS = {
    "golem_project/stream/in_thread.py": "opens a watch around each call",
    "golem_project/a2a/request_handler.py": "its threads work for `run_blocking`, which opens a watch",
    "golem_project/runtime/threaded_handler.py": "the whole middleware chain runs in them",
    "golem_project/heartbeat/thinking/tool_loop.py": "carries the watch of its tick along",
    "tools_app/read_ahead.py": "copies the context of who reads ahead, its watch included",
    "permits_app/execution/follower_threads.py": "opens a watch around each look",
    "golem_project/chat/answering.py": "asks one row whether an owner cancelled",
    "golem_project/runtime/start_conditions.py": "compares two clocks",
    "golem_project/runtime/database_clock.py": "compares two clocks",
    "golem_project/alerts/silent_queues.py": "reads signs of life and who wants to be told; nothing of a golem",
    "golem_project/coding/ssh_session.py": "an event loop for connections; who asks waits in its own thread",
    "golem_project/runtime/memory_limit.py": "looks at this process's memory; nothing of a golem",
    "tools_app/core/resource_errors.py": "notes the code of what has run out",
    "golem_project/embedded/npm.py": "downloads packages",
    "golem_project/embedded/process_output.py": "carries a server's output into its file",
    "golem_project/embedded/world/people/uniswap_x.py": "takes orders that were signed to be handed on",
    "golem_project/embedded/world/keep_chain_on_disk.py": "writes the local chain down",
    "memory_app/tasks.py": "loads the embedding model",
    "permits_app/tasks.py": "opens keys ahead, which says addresses alone",
    "permits_app/permits/memory_requests.py": "hands permits' ids to the queue",
    "tools_app/core/event_publisher.py": "publishes events that were cleaned when they were written",
    "golem_project/metrics/counting.py": "hands on counts; nothing of a golem",
    "tools_app/core/guarded_http.py": "breaks a connection off",
    "tools_app/core/statement_watch.py": "cancels statements",
    "tools_app/core/wake_waiting_process.py": "hears who is to be woken",
    "tools_app/sandbox/engine.py": "counts epochs",
    "tools_app/simulation/revm_screening/state_server.py": "serves the state of a chain to a simulator",
}
"""Every file that starts a thread, and why nothing that its threads keep back is lost."""

_STARTS = {"threading.Thread", "threading.Timer", "ThreadPoolExecutor", "Thread", "Timer", "ProcessPoolExecutor"}


def test_every_task_is_watched_whoever_wrote_it() -> None:
    app.loader.import_default_modules()
    ours = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert len(ours) > 30
    for name, task in ours.items():
        assert isinstance(task, WatchedTask), name
        # Celery calls `run` itself where it finds no call of the task's own.
        assert task_has_custom(task, "__call__"), name


def test_no_task_is_of_a_class_of_its_own() -> None:
    for path, node in walk():
        if isinstance(node, ast.Call) and dotted(node.func).endswith(("shared_task", ".task")):
            assert "base" not in {word.arg for word in node.keywords}, path


def test_every_page_and_every_call_of_the_api_is_watched() -> None:
    ours = f"{WatchedRequests.__module__}.{WatchedRequests.__qualname__}"
    before = settings.MIDDLEWARE[: settings.MIDDLEWARE.index(ours)]
    # What runs around it names the request and sets headers; nothing of a golem is touched there.
    assert set(before) == {
        "django.middleware.security.SecurityMiddleware",
        "golem_project.middleware.security_headers.PageHeaders",
        "whitenoise.middleware.WhiteNoiseMiddleware",
        "golem_project.middleware.request_id.RequestIdMiddleware",
        "golem_project.metrics.measured_requests.NamedEndpoints",
        "golem_project.metrics.traced_requests.CarriedSpans",
    }
    assigned = {
        path
        for path, node in walk()
        if isinstance(node, ast.Assign | ast.AugAssign) and "MIDDLEWARE" in ast.unparse(node).split("=")[0]
    }
    assert assigned == {"golem_project/settings/base.py"}


def test_who_opens_a_watch_is_known_and_every_command_has_one() -> None:
    found = {
        path
        for path, node in walk(skip=("tools_app/core/blocked_flows.py",))
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in ("audited", "watching")
    }
    assert found == set(OPENERS)
    assert "with audited(" in (ROOT / "manage.py").read_text()


def test_what_starts_a_thread_opens_a_watch_carries_one_or_keeps_nothing_back() -> None:
    found = {path for path, node in walk() if isinstance(node, ast.Call) and dotted(node.func) in _STARTS}
    assert found == set(THREADS)
    in_executors = {
        path
        for path, node in walk()
        if isinstance(node, ast.Attribute) and node.attr in ("run_in_executor", "to_thread")
    }
    assert in_executors == {"golem_project/stream/in_thread.py", "golem_project/runtime/threaded_handler.py"}
