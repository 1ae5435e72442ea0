"""Canary secrets planted where secrets live, and a search for them everywhere a person, a model or a disk could see."""

from __future__ import annotations

import base64
import html
import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.apps import apps
from django.conf import settings
from django.core import serializers
from django.core.management import call_command
from django.core.management.base import CommandError
from django.http import HttpRequest
from django.test import Client, RequestFactory, override_settings
from django.views.debug import technical_500_response

from golem_project import wiring
from golem_project.celery import app
from golem_project.runtime.redacted_reports import write_report
from permits_app.errors import PolicyRejected
from permits_app.tasks import commit_permit_task, preview_action_task
from tests.adversary.conftest import Adversary
from tests.adversary.conftest import adversary as adversary
from tests.bench import command as bench_command
from tests.bench.figures import MEASURES, Figure
from tests.golem_project.pi.conftest import SWAP
from tests.live_golem import FUNDS
from tests.proof import command as proof_command
from tests.proof.registry import PROOFS, Progress, Proof
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.log_redaction import RedactingFormatter
from tools_app.core.taint import Secret, TaintLabel
from tools_app.tasks import publish_events_task

KEY = "0x" + "5ec4e7" * 10 + "beef"
PASSPHRASE = "canary-passphrase-of-the-keystore"
NODE = "https://node.example/v3/canarycanarycanarycanary"
PROJECT = "0f5d1e9a-canary-project-at-zerodev"
MAIL = "canary.owner@example.org"
HIDDEN_TABLES = frozenset({"auth.user"})  # where an owner's address has to be


@pytest.fixture
def canaries(adversary: Adversary) -> Iterator[dict[str, str]]:
    """The secrets, planted: key, passphrase, node address, the agent's token, the owner's mail address."""
    for value, label in ((KEY, TaintLabel.WALLET_SECRET), (PASSPHRASE, TaintLabel.WALLET_SECRET)):
        Secret(value, label)
    Secret(NODE, TaintLabel.OWNER_SECRET)
    Secret(PROJECT, TaintLabel.WALLET_SECRET)
    owner: Any = adversary.live.owner
    owner.email, owner.is_superuser, owner.is_staff = MAIL, True, True
    owner.save()
    yield {
        "key": KEY,
        "bare key": KEY[2:],
        "passphrase": PASSPHRASE,
        "node": NODE,
        "project": PROJECT,
        "node key": "canarycanarycanarycanary",
        "token": adversary.agent.key.token,
        "mail": MAIL,
    }


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that is logged, as the product's own formatter writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.setLevel(level)
    root.removeHandler(handler)


def provoke(adversary: Adversary) -> list[str]:
    """What an agent that holds the canaries could do with them: say them everywhere. Answers what it is told."""
    told = []
    secrets = " ".join((KEY, PASSPHRASE, NODE, PROJECT))
    told.append(str(adversary.take(**SWAP)))
    for tool, body in (
        ("preview_action", {**SWAP, "token_out": secrets}),
        ("preview_action", {**SWAP, "action_type": secrets}),
        ("preview_action", {**SWAP, "amount": str(10**15)}),
        ("preview_action", {"action_type": "transfer", "token": "USDC", "recipient": KEY[:42], "amount": "1000000"}),
        ("commit_action", {"permit_id": secrets}),
        ("query_state", {"query": secrets}),
        ("search_context", {"query": secrets}),
        ("query_grimoire", {"query": secrets, "store": "episodes"}),
        ("update_directive", {"section": "Rules", "change": f"remember {secrets}", "reason": secrets}),
    ):
        told.append(str(adversary.ask(tool, body)))
    permit = adversary.preview(**{**SWAP, "amount": "300000000"})[1]["permit_id"]
    told.append(str(adversary.ask("cancel_action", {"permit_id": permit, "reason": secrets})))
    told.append(str(adversary.agent.get("manifest").content))
    told.append(str(adversary.agent.get("permits").content))
    return told


def list_rows() -> Iterator[tuple[str, str]]:
    for model in apps.get_models():
        if model._meta.label_lower in HIDDEN_TABLES or model._meta.proxy or not model._meta.managed:
            continue
        yield model._meta.label, serializers.serialize("json", model._default_manager.all())


def find(canaries: dict[str, str], text: str) -> list[str]:
    return [name for name, value in canaries.items() if value.lower() in text.lower()]


def test_no_canary_is_in_a_log_an_answer_a_row_or_an_event(
    adversary: Adversary, canaries: dict[str, str], log: io.StringIO
) -> None:
    # The token is the agent's own and the mail address may reach a model; neither is repeated to it all the same.
    logging.getLogger("permits_app.test").error("leaky %s %s", KEY, {"passphrase": PASSPHRASE, "mail": MAIL})
    payload = {"alerts": [{"note": f"{KEY} {NODE}", "passphrase": PASSPHRASE, "mail": MAIL}]}
    event_bus.emit(golem_id=adversary.live.golem.pk, event=Event(EventType.HEARTBEAT_ALERT, payload), now=clock.now())
    told = provoke(adversary)
    secrets = {name: value for name, value in canaries.items() if name != "mail"}
    for answer in told:
        assert find(secrets, answer) == [], answer[:2_000]
    assert "leaky" in log.getvalue()
    assert find(canaries, log.getvalue()) == []
    rows = dict(list_rows())
    assert len(rows["tools_app.OutboxEvent"]) > 1_000
    for table, text in rows.items():
        assert find(canaries, text) == [], table


def test_no_canary_is_in_an_error_whatever_was_put_into_it(canaries: dict[str, str]) -> None:
    error = PolicyRejected(
        f"no: {KEY} {NODE} {PROJECT}", observed=PASSPHRASE, nested={"url": NODE, "rpc_url": "anything"}, x=[KEY]
    )
    secrets = {name: value for name, value in canaries.items() if name != "mail"}
    assert find(secrets, json.dumps(error.as_problem())) == []


def test_no_canary_is_on_an_admin_page(adversary: Adversary, canaries: dict[str, str]) -> None:
    provoke(adversary)
    browser = Client()
    browser.force_login(adversary.live.owner)
    seen = 0
    # The owner's own address stands on the owner's own pages.
    secrets = {name: value for name, value in canaries.items() if name != "mail"}
    for model in apps.get_models():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        response = browser.get(path)
        if response.status_code != 200:
            continue
        seen += 1
        assert find(secrets, response.content.decode()) == [], path
    assert seen > 10


def test_no_canary_is_in_a_message_on_the_broker(adversary: Adversary, canaries: dict[str, str]) -> None:
    app.conf.task_always_eager = False
    broker = redis.Redis.from_url(settings.REDIS_URL)
    drop_waiting_tasks()
    golem, key = adversary.live.golem, adversary.live.key
    preview_action_task.delay(golem_id=str(golem.pk), api_key_id=str(key.key.pk), body=dict(SWAP))
    commit_permit_task.delay(permit_id=str(golem.pk))
    texts = []
    for name in broker.scan_iter("*"):
        if broker.type(name) == b"list":
            for raw in broker.lrange(name, 0, -1):
                message = json.loads(raw)
                # A task has a body; an answer that nobody fetched has none.
                texts.append(str(message) + base64.b64decode(message.get("body", "")).decode())
    drop_waiting_tasks()
    assert sum("preview_action_task" in text for text in texts) >= 1
    for text in texts:
        assert find(canaries, text) == []


def test_no_canary_is_on_the_page_of_a_failure_nor_in_its_text(canaries: dict[str, str]) -> None:
    """As Django shows it where GOLEM_DEBUG is on: settings, headers, form fields, local variables, the message."""
    request = RequestFactory().post(
        "/x", {"note": f"'{NODE}'", "passphrase": PASSPHRASE}, headers={"Authorization": f"Bearer {canaries['token']}"}
    )
    for accept in ("text/html", "text/plain"):
        request.META["HTTP_ACCEPT"] = accept
        page = show_failure(request)
        assert "unlock" in page and "ValueError" in page
        assert find(canaries, html.unescape(page)) == []


def show_failure(request: HttpRequest) -> str:
    """The page of a failure; the canaries are in its variables under names that say nothing."""
    first, second = f"<{KEY}>", {"phrase": PASSPHRASE, "mail": MAIL}
    try:
        unlock(first, second, Secret(NODE))
    except ValueError:
        with override_settings(DEBUG=True, GOLEM_NODE=NODE, GOLEM_NODES={1: (NODE,)}, EXTRA=[f"'{KEY}'"]):
            return technical_500_response(request, *sys.exc_info()).content.decode()
    raise AssertionError("it did not fail")


def unlock(key: str, words: dict[str, str], node: Secret) -> None:
    """Fails with secrets in its arguments, its variables and its cause."""
    try:
        raise KeyError(f"{key} of {words}")
    except KeyError as error:
        raise ValueError(f"cannot unlock {key} at {node.reveal()}") from error


def test_no_canary_is_kept_by_the_broker_server_whatever_its_kind(
    adversary: Adversary, canaries: dict[str, str]
) -> None:
    """Streams of events, caches, results, rate limits: every key of the server after the golem was used."""
    payload = {"alerts": [{"note": f"{KEY} {NODE}", "passphrase": PASSPHRASE, "mail": MAIL}]}
    event_bus.emit(golem_id=adversary.live.golem.pk, event=Event(EventType.HEARTBEAT_ALERT, payload), now=clock.now())
    provoke(adversary)
    publish_events_task.run()
    server = redis.Redis.from_url(settings.REDIS_URL)
    kept = {name: str(read_key(server, name)) for name in server.scan_iter("*")}
    assert any(str(adversary.live.golem.pk) in text for text in kept.values())
    for name, text in kept.items():
        assert find(canaries, f"{name!r} {text}") == [], name


def read_key(server: redis.Redis, name: bytes) -> Any:
    """Everything under one key, whatever its type."""
    kind = server.type(name)
    if kind == b"stream":
        return server.xrange(name)
    if kind == b"hash":
        return server.hgetall(name)
    if kind == b"list":
        return server.lrange(name, 0, -1)
    if kind in (b"set", b"zset"):
        return server.smembers(name) if kind == b"set" else server.zrange(name, 0, -1)
    return server.get(name)


def test_no_canary_is_in_what_leaves_as_a_file(adversary: Adversary, canaries: dict[str, str], tmp_path: Path) -> None:
    provoke(adversary)
    told = io.StringIO()
    audit = tmp_path / "audit.jsonl"
    call_command("export_audit", str(adversary.live.golem.pk), str(audit), stdout=told)
    call_command("export_addresses", stdout=told)
    assert len(audit.read_text()) > 1_000
    secrets = {name: value for name, value in canaries.items() if name != "mail"}
    for text in (audit.read_text(), told.getvalue()):
        assert find(secrets, text) == []


def test_no_canary_is_in_a_report_of_a_bench_or_a_proof(
    canaries: dict[str, str], settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A measure and a proof that put every one of them into what they have to say."""
    said = f"leaky {KEY} {canaries['token']} {json.dumps({'passphrase': PASSPHRASE})} at {NODE} for {PROJECT}, {MAIL}"

    def prove(progress: Progress) -> None:
        progress.findings.append(said)
        progress.notes.append(said)

    monkeypatch.setitem(MEASURES, "leaky", lambda: [Figure("leaky.figure", "w", 1.0, "ms", reference=said)])
    monkeypatch.setitem(PROOFS, "leaky.proof", Proof(id="leaky.proof", what="w", rounds=1, run=prove))
    settings.GOLEM_REPORT_DIR = tmp_path
    told = io.StringIO()
    monkeypatch.setattr(sys, "stdout", told)
    call_command(bench_command.Command(), only="leaky.")
    with pytest.raises(CommandError, match="findings in leaky.proof"):
        call_command(proof_command.Command(), only="leaky.", stdout=told)
    write_report(tmp_path / "demo.json", {"steps": [{"name": said, "api_key": canaries["token"]}]})
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(texts) == ["bench.json", "demo.json", "proof.json"]
    for name, text in {**texts, "printed": told.getvalue()}.items():
        assert "leaky" in text, name
        assert find(canaries, re.sub(r"\s+|│", "", text)) == [], name


def test_the_real_key_and_passphrase_of_a_golem_are_nowhere_either(adversary: Adversary, log: io.StringIO) -> None:
    passphrase = wiring._read_passphrase().reveal()
    provoke(adversary)
    assert FUNDS
    for table, text in list_rows():
        assert passphrase not in text, table
    assert passphrase not in log.getvalue()
