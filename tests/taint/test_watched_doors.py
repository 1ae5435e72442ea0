"""Whatever door a call came through, what it kept from a sink stands in its golem's audit log."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections import OrderedDict
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest
from celery import shared_task
from django.conf import settings
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.celery import app
from memory_app.actions.restore_directive import write_directive
from memory_app.models.directive import Document
from memory_app.strategy_files import export_files
from memory_app.tasks import store_episode_task
from permits_app.models import HaltRecord
from tests.adversary.conftest import SWAP, Adversary
from tests.adversary.conftest import adversary as adversary
from tests.golem_project.a2a.conftest import Line, ask, run, send, state_of
from tests.golem_project.a2a.conftest import eager_work as eager_work
from tests.golem_project.a2a.conftest import line as line
from tests.golem_project.pi.conftest import live as live
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.golem_project.stream.conftest import no_stream_is_left as no_stream_is_left
from tests.golem_project.stream.conftest import web_port as web_port
from tools_app.core import clock, taint
from tools_app.core.models import AuditEntry
from tools_app.core.taint import Secret, TaintLabel

NODE = "https://node.example/v3/canarycanarycanarycanary-at-a-door"
MAIL = "somebody.private@example.org"


@pytest.fixture(autouse=True)
def forgotten_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test makes a secret is one for that test alone."""
    monkeypatch.setattr(taint, "_known", OrderedDict(taint._known))
    monkeypatch.setattr(taint, "_known_keys", taint._known_keys)
    monkeypatch.setattr(taint, "_known_texts", taint._known_texts)


def blocked(golem: Golem) -> list[tuple[str, set[tuple[str, str]]]]:
    """Of each TaintViolationBlocked who told it, and the labels and sinks."""
    entries = AuditEntry.objects.filter(golem_id=golem.pk, event="TaintViolationBlocked").order_by("seq")
    return [(entry.actor, {(each["label"], each["sink"]) for each in entry.data["blocked"]}) for entry in entries]


def said(golem: Golem) -> str:
    """The whole audit log of a golem."""
    return str(list(AuditEntry.objects.filter(golem_id=golem.pk).values_list("data", flat=True)))


def test_a_commit_in_its_worker_says_what_it_kept_back(adversary: Adversary) -> None:
    golem = adversary.live.golem
    permit_id = adversary.preview(**SWAP, venue="uniswap")[1]["permit_id"]
    # What an operator calls a secret meanwhile, and what the log tells of each transaction: whom it calls.
    for address in adversary.live.world.contracts.values():
        Secret(address, TaintLabel.OWNER_SECRET)
    assert adversary.ask("commit_action", {"permit_id": permit_id})[0] == 200
    by_worker = [flows for actor, flows in blocked(golem) if actor == "system:runtime"]
    assert any(("OWNER_SECRET", "AUDIT") in flows for flows in by_worker)
    [signed] = AuditEntry.objects.filter(golem_id=golem.pk, event="Transaction")
    assert taint.REMOVED in str(signed.data)


def test_an_owners_page_and_the_halt_behind_it_say_what_they_kept_back(adversary: Adversary) -> None:
    Secret(NODE, TaintLabel.OWNER_SECRET)
    golem, owner = adversary.live.golem, adversary.live.owner
    owner.is_superuser = owner.is_staff = True
    owner.save()
    browser = Client()
    browser.force_login(owner)
    page = reverse("admin:archetypes_app_golem_halt", args=[golem.pk])
    assert browser.post(page, {"reason": f"ask {MAIL} about {NODE}"}).status_code == 302
    assert HaltRecord.objects.filter(golem=golem).exists()
    told = dict(blocked(golem))
    assert {("OWNER_SECRET", "AUDIT"), ("OWNER_SECRET", "EVENTS"), ("USER_PII", "EVENTS")} <= told["system:door"]
    assert "canary" not in said(golem) and MAIL not in said(golem)


def test_the_worker_of_memory_says_what_it_kept_back(adversary: Adversary) -> None:
    golem = adversary.live.golem
    Secret("a-name-nobody-may-know", TaintLabel.OWNER_SECRET)
    store_episode_task.delay(
        golem_id=str(golem.pk),
        permit_id=str(uuid4()),
        tool_name="a-name-nobody-may-know",
        action_type="swap",
        venue="uniswap",
        chain_id=31337,
        tokens=["USDC", "WETH"],
        prediction={},
        outcome={},
        summary="a swap",
        importance="BASE",
        provenance={"source": "RUNTIME", "trust": "VERIFIED", "recorded_by": "system:memory"},
        occurred_at=clock.now().isoformat(),
    ).get(disable_sync_subtasks=False)
    assert blocked(golem) == [("system:runtime", {("OWNER_SECRET", "AUDIT"), ("OWNER_SECRET", "EVENTS")})]


@pytest.mark.django_db(transaction=True)
def test_a_task_of_another_agent_over_a2a_says_what_it_kept_back(line: Line) -> None:
    Secret(NODE, TaintLabel.OWNER_SECRET)

    async def preview_and_cancel() -> list[dict[str, Any]]:
        async with line.open() as client:
            [made] = await send(client, ask("preview_action", SWAP))
            body = {"permit_id": _permit_of(made), "reason": f"ask {MAIL} about {NODE}"}
            return await send(client, ask("cancel_action", body))

    [answer] = run(preview_and_cancel())
    assert state_of(answer) == "COMPLETED", answer
    told = blocked(line.golem)
    assert {actor for actor, _ in told} == {"system:door"}
    assert any(("USER_PII", "EVENTS") in flows for _, flows in told)
    assert "canary" not in said(line.golem)


def _permit_of(event: dict[str, Any]) -> str:
    permit_id: str = event["task"]["artifacts"][0]["parts"][0]["data"]["permit_id"]
    return permit_id


def test_a_command_says_what_it_kept_back(
    adversary: Adversary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = adversary.live.golem
    Secret(NODE, TaintLabel.OWNER_SECRET)
    write_directive(
        golem_id=golem.pk, document=Document.PLAYBOOK, text="## A\n\nb", reason="x", actor="t", now=clock.now()
    )
    export_files(golem_id=golem.pk, folder=tmp_path, actor="t", now=clock.now())
    (tmp_path / "PLAYBOOK.md").write_text("## A\n\nc")
    reason = f"as {NODE} says"
    command = ["manage.py", "strategic_files", "import", str(golem.pk), str(tmp_path), "--reason", reason]
    monkeypatch.setattr(sys, "argv", command)
    monkeypatch.setattr("golem_project.embedded.autostart.provide_services", lambda environ: None)
    _load_manage().main()
    [(actor, flows)] = blocked(golem)
    assert actor == "system:command"
    assert {label for label, _ in flows} == {"OWNER_SECRET"}


def _load_manage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manage", Path(settings.BASE_DIR) / "manage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.django_db(transaction=True)
def test_what_a_new_task_keeps_from_a_log_line_is_told_without_a_word_of_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A task nobody thought of. What is of no golem stands in the server's log, because no audit log is nobody's."""

    @shared_task(name="tests.taint.a_new_task")
    def a_new_task(**_: Any) -> None:
        # The product's own handler writes it.
        logging.getLogger("permits_app.test").error("write to %s", MAIL)

    golem_id = uuid4()
    try:
        a_new_task.apply().get(disable_sync_subtasks=False)
        a_new_task.apply(kwargs={"golem_id": str(golem_id)}).get(disable_sync_subtasks=False)
    finally:
        app.tasks.unregister("tests.taint.a_new_task")
    [line] = [each for each in caplog.messages if each.startswith("kept back by")]
    assert line == "kept back by system:runtime, of no golem that is known: USER_PII from LOGS 1 times"
    [entry] = AuditEntry.objects.filter(golem_id=golem_id)
    assert entry.data["blocked"] == [{"label": "USER_PII", "sink": "LOGS", "count": 1}]
