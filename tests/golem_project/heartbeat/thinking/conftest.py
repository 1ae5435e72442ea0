"""A golem, a scripted model and the planner that joins them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from archetypes_app.models import Golem
from archetypes_app.models.archetype import InferenceTier
from golem_project.celery import app as celery_app
from golem_project.heartbeat.thinking.endpoint import parse_endpoint
from golem_project.heartbeat.thinking.model_client import ModelClient, ModelPrice, ThinkingModel
from golem_project.heartbeat.thinking.model_planner import ModelPlanner
from golem_project.heartbeat.thinking.planner import Deliberation, Situation
from golem_project.pi.definitions import define_tools
from golem_project.pi.token_count import cost_little
from tests.scripted_model import MODEL, Answer, ScriptedModel, serve_model
from tools_app.core import clock, worker_dispatch
from tools_app.core.clock import Deadline
from tools_app.core.taint import Secret, TaintLabel

API_KEY = "sk-test-0123456789-never-shown"
PRICE = ModelPrice(input_micro_usd=3_000_000, output_micro_usd=15_000_000)


def make_client(
    url: str, *, price: ModelPrice = PRICE, allow_local: bool = True, provider: str = "openai"
) -> ModelClient:
    model = ThinkingModel(MODEL, price)
    return ModelClient(
        provider=provider,
        endpoint=parse_endpoint(url, allow_local=allow_local),
        models={InferenceTier.T1: model, InferenceTier.T2: model},
        write_tools=define_tools,
        cost_little=cost_little,
        api_key=Secret(API_KEY, TaintLabel.OWNER_SECRET),
    )


def make_situation(golem: Golem, *, is_live: bool = True, **changes: Any) -> Situation:
    values: dict[str, Any] = {
        "golem": Golem.objects.select_related("archetype").get(pk=golem.pk),
        "heartbeat_tick": golem.heartbeat_tick,
        "tier": InferenceTier.T2,
        "gating_reason": "prediction error above twice the threshold",
        "regime": "NORMAL",
        "is_live": is_live,
        "observation": "WETH moved 4%",
        **changes,
    }
    return Situation(**values)


Think = Callable[..., tuple[Deliberation, ScriptedModel]]


@pytest.fixture
def think(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Think]:
    """Play `script` against one deliberation of `golem`; tasks of the queue run at once, in this process."""
    # Who waits for a worker gives its connection back; here the worker is the same transaction.
    monkeypatch.setattr(worker_dispatch, "connections", SimpleNamespace(close_all=lambda: None))
    monkeypatch.setattr("golem_project.celery.close_old_connections", lambda: None)
    # Whoever thinks first in a process loads the model library, for seconds that belong to no deliberation here.
    import_module("golem_project.heartbeat.thinking.model_exchange")
    eager = celery_app.conf.task_always_eager
    celery_app.conf.task_always_eager = True
    stack = ExitStack()

    def run(
        golem: Golem, *script: Answer, seconds: float = 60.0, client: dict[str, Any] | None = None, **changes: Any
    ) -> tuple[Deliberation, ScriptedModel]:
        model = stack.enter_context(serve_model(script))
        wanted = client or {}
        base = model.url.removesuffix("/v1") if wanted.get("provider") == "anthropic" else model.url
        planner = ModelPlanner(make_client(base, **wanted))
        found = planner.deliberate(
            situation=make_situation(golem, **changes), deadline=Deadline.after_ms(seconds * 1000), now=clock.now()
        )
        return found, model

    with stack:
        yield run
    celery_app.conf.task_always_eager = eager


@pytest.fixture
def free_url() -> str:
    """An address on loopback where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"
