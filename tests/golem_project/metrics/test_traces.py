"""What a collector of traces sees: one tree for each permit, from its preview to its receipt, and no secret."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connections

from golem_project.embedded.product_process_plans import plan_worker
from golem_project.middleware.json_lines import JsonFormatter
from golem_project.middleware.request_id import RequestIdFilter
from golem_project.runtime.trace_export import OtlpTracer
from tests.golem_project.metrics.collector import Collector, Seen, collecting
from tests.golem_project.pi.conftest import PI, SWAP, Agent
from tests.golem_project.pi.conftest import live as live
from tests.golem_project.test_drain import running, wait_for, web
from tests.services import provide_chain
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import trace_spans
from tools_app.core.errors import GolemError

OFFERED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
AUTHORIZATION = "Bearer what-only-the-collector-knows"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


@pytest.fixture
def traced(collector: Collector, settings: Any) -> Iterator[OtlpTracer]:
    """This process tells its steps to the collector."""
    settings.GOLEM_TRACES_AUTHORIZATION, settings.GOLEM_TRACES_PERCENT = AUTHORIZATION, 100
    tracer = OtlpTracer(collector.url)
    trace_spans.keep_in(tracer)
    yield tracer
    trace_spans.keep_in(None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(600)
def test_a_permit_is_one_tree_from_its_preview_over_a_worker_to_its_receipt(
    django_db_setup: None, collector: Collector, live: Agent, tmp_path: Path
) -> None:
    provide_chain()
    database = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{connections['default'].settings_dict['NAME']}"
    (tmp_path / "authorization").write_text(AUTHORIZATION)
    variables = {
        "DATABASE_URL": database,
        "GOLEM_TRACES_URL": collector.url,
        "GOLEM_TRACES_AUTHORIZATION_FILE": str(tmp_path / "authorization"),
    }
    drop_waiting_tasks()
    plan = plan_worker("traced", "simulation,commit", pool="threads", concurrency=2)
    log_path = tmp_path / "worker.log"
    with running([*plan.argv], log_path, **variables) as process:
        wait_for(lambda: process.poll() is not None or b" ready." in log_path.read_bytes(), log_path)
        web_log = tmp_path / "web.log"
        with web(web_log, grace=5, module="golem_project.asgi", **variables) as (_, port):
            headers = {"Authorization": f"Bearer {live.key.token}", "traceparent": OFFERED}
            with httpx.Client(base_url=f"http://127.0.0.1:{port}{PI}", headers=headers, timeout=60) as client:
                permit = client.post("/preview_action", json=SWAP).raise_for_status().json()
                done = client.post("/commit_action", json={"permit_id": permit["permit_id"]})
            assert done.json()["status"] == "COMMITTED", done.text
            collector.wait_for(
                lambda seen: (
                    {"POST /api/v1/pi/commit_action", "receipt"} <= {each.name for each in seen}
                    and any(each.name.startswith("task permits_app.tasks.commit") for each in seen)
                )
            )
    drop_waiting_tasks()
    seen = collector.spans
    preview = find(seen, "POST /api/v1/pi/preview_action")
    # A caller's own trace is noted beside it; whoever calls decides nothing about ours.
    assert preview.parent_id == "" and preview.led_to_by == (OFFERED.split("-")[1],)
    assert preview.facts["golem.permit_id"] == permit["permit_id"] and len(preview.facts["golem.request_id"]) == 32
    tree = [each for each in seen if each.trace_id == preview.trace_id]
    judging = [preview.name, "task permits_app.tasks.preview_action_task"]
    for hook in ("policy_cage", "allowlist_guard", "spending_limiter", "rate_limiter", "simulator"):
        assert [*judging, f"hook {hook}"] in paths(collector, tree), paths(collector, tree)
    assert [*judging, "hook simulator", "simulation"] in paths(collector, tree)
    assert any(path[:2] == judging and path[-1] == "node" for path in paths(collector, tree))
    carrying = [preview.name, "commit request", "task permits_app.tasks.commit_permit_task", "commit"]
    for step in ("broadcast", "receipt"):
        assert [*carrying, step] in paths(collector, tree), paths(collector, tree)
    assert [*carrying, "broadcast", "node"] in paths(collector, tree)
    asked = find(seen, "POST /api/v1/pi/commit_action")
    assert find(tree, "commit request").led_to_by == (asked.trace_id,)
    assert {each.process for each in tree} == {"golem web", "golem worker traced"}
    assert collector.authorizations == {AUTHORIZATION}
    raw = b"".join(collector.raw)
    for secret in (live.key.token, os.environ["DATABASE_URL"], os.environ["GOLEM_RPC_URL_31337"]):
        assert secret.encode() not in raw
    assert not any("url" in name or "host" in name for each in seen for name in each.facts)


def test_what_is_not_asked_for_is_not_loaded_and_steps_cost_nothing() -> None:
    code = (
        "import django; django.setup()\n"
        "import sys\n"
        "from golem_project import celery\n"
        "from tools_app.core import trace_spans\n"
        "with trace_spans.step('a'), trace_spans.continued('b', 'b'): trace_spans.note(a=1)\n"
        "print(trace_spans.is_kept(), 'opentelemetry.exporter.otlp.proto.http' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True)
    assert told.stdout.split() == ["False", "False"], told.stderr


def test_a_step_says_with_which_code_it_failed_and_nothing_of_the_words(
    traced: OtlpTracer, collector: Collector
) -> None:
    class Refused(GolemError):
        code = "REFUSED_FOR_TESTS"

    token = "golem_" + "a" * 43
    with pytest.raises(Refused), trace_spans.within(trace_spans.begin("outer", told=f"by {token}", long="x" * 900)):
        with pytest.raises(ValueError), trace_spans.step("inner"):
            raise ValueError("of ana@golem.example")
        raise Refused("to ana@golem.example")
    traced.flush()
    outer, inner = find(collector.spans, "outer"), find(collector.spans, "inner")
    assert (outer.facts["error.type"], inner.facts["error.type"]) == ("REFUSED_FOR_TESTS", "ValueError")
    assert outer.has_failed and inner.parent_id == outer.span_id
    assert len(outer.facts["golem.long"]) == 200
    raw = b"".join(collector.raw)
    assert b"ana@golem.example" not in raw and token.encode() not in raw


def test_what_happens_to_a_permit_later_belongs_to_the_tree_that_first_remembered_it(
    traced: OtlpTracer, collector: Collector
) -> None:
    permit_id = str(uuid.uuid4())
    with trace_spans.within(trace_spans.begin("preview")):
        trace_spans.remember(permit_id)
    with trace_spans.within(trace_spans.begin("another request")):
        trace_spans.remember(permit_id)
        with trace_spans.continued(permit_id, "commit"), trace_spans.continued(permit_id, "payload"):
            pass
    traced.flush()
    payload = find(collector.spans, "payload")
    assert collector.path_of(payload) == ["preview", "commit", "payload"]
    other = find(collector.spans, "another request").trace_id
    assert find(collector.spans, "commit").led_to_by == (other,) and other != payload.trace_id


def test_without_a_broker_a_step_is_told_by_itself(traced: OtlpTracer, collector: Collector, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with trace_spans.within(trace_spans.begin("request")):
        trace_spans.remember("permit")
        with trace_spans.continued("permit", "commit"):
            pass
    traced.flush()
    assert collector.path_of(find(collector.spans, "commit")) == ["request", "commit"]


def test_only_the_share_that_an_operator_wants_is_told(collector: Collector, settings: Any) -> None:
    settings.GOLEM_TRACES_AUTHORIZATION, settings.GOLEM_TRACES_PERCENT = "", 0
    tracer = OtlpTracer(collector.url)
    trace_spans.keep_in(tracer)
    try:
        with trace_spans.within(trace_spans.begin("request")), trace_spans.step("inner"):
            flags = (trace_spans.name_current() or "").rpartition("-")[2]
            assert int(flags, 16) & 1 == 0, "no process behind this one tells of it either"
    finally:
        trace_spans.keep_in(None)
    tracer.flush()
    assert collector.spans == []


def test_a_line_of_json_names_its_trace(traced: OtlpTracer) -> None:
    record = logging.LogRecord("permits_app", logging.WARNING, "a.py", 1, "sent", (), None)
    RequestIdFilter().filter(record)
    assert "trace_id" not in json.loads(JsonFormatter().format(record))
    with trace_spans.within(trace_spans.begin("request")):
        span = trace_spans.current()
        assert span is not None
        assert json.loads(JsonFormatter().format(record))["trace_id"] == span.trace_id


def find(seen: list[Seen], name: str) -> Seen:
    """The only one of that name."""
    (found,) = [each for each in seen if each.name == name]
    return found


def paths(collector: Collector, tree: list[Seen]) -> list[list[str]]:
    return [collector.path_of(each) for each in tree]
