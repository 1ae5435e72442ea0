"""Preview, commit, cancel over HTTP, through the real queue and a real worker, on the real contracts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

from archetypes_app.models import ToolOverride, ToolProfile
from archetypes_app.models.override import OverrideMode
from archetypes_app.owner_group import ensure_owner_group
from golem_project.pi import serializers as wire
from permits_app.models import ActionPermit, OutboundTransaction
from tests.golem_project.pi.conftest import PI, SWAP, Agent, assert_problem
from tests.how_to import read_block, run_in_shell
from tests.services import provide_chain
from tests.waiting_tasks import drop_waiting_tasks
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.models import OutboxEvent
from tools_app.models import ToolCheckpoint
from tools_app.portfolio.markets import ChainMarkets
from tools_app.subsystems.data import pool_tools
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY


@pytest.fixture(scope="module")
def worker_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One worker on the two queues, a process of its own as in production, on the servers and database of this run."""
    provide_chain()
    name = connections["default"].settings_dict["NAME"]
    log_path = tmp_path_factory.mktemp("worker") / "worker.log"
    argv = [sys.executable, "-m", "celery", "-A", "golem_project.celery", "worker", "-n", "pi-test@%h"]
    argv += ["--pool", "solo", "-Q", "simulation,commit", "--without-gossip", "--without-mingle", "-l", "INFO"]
    environment = {
        **os.environ,
        "DATABASE_URL": f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}",
        "DJANGO_SETTINGS_MODULE": "golem_project.settings.test",
        "PYTHONWARNINGS": "ignore",
    }
    drop_waiting_tasks()
    with log_path.open("wb") as log:
        process = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
    try:
        _await_ready(process, log_path)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)
        drop_waiting_tasks()


def _await_ready(process: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + 60
    while b" ready." not in log_path.read_bytes():
        assert process.poll() is None and time.monotonic() < deadline, log_path.read_text()
        time.sleep(0.1)


@pytest.fixture
def worker(worker_process: None, live: Agent) -> None:
    """The worker of this module, for an agent that is ready to act."""


@pytest.mark.usefixtures("worker")
def test_a_swap_goes_from_preview_to_its_outcome(live: Agent) -> None:
    permit = live.post("preview_action", SWAP)
    assert permit.status_code == 200, permit.content
    assert set(permit.json()) == set(wire.PreviewActionOutput().fields) - {"tool_schema"}
    permit_id = permit.json()["permit_id"]
    assert live.get(f"permits/{permit_id}").json()["status"] == "CREATED"

    done = live.post("commit_action", {"permit_id": permit_id})
    answer = done.json()
    assert (done.status_code, answer["status"]) == (200, "COMMITTED"), answer
    assert set(answer) == {"status", "permit", "result"}
    assert answer["result"]["ground_truth_source"] == "receipt"
    assert answer["permit"]["permit_id"] == permit_id

    again = live.post("commit_action", {"permit_id": permit_id})
    problem = assert_problem(again, 409, "PERMIT_ALREADY_COMMITTED", "CHECK_STATE")
    assert again.headers["Location"] == f"/api/v1/pi/permits/{permit_id}"
    assert problem["permit_status"] == "COMMITTED"
    assert problem["tx_hashes"] == [row["tx_hash"] for row in answer["permit"]["transactions"]]
    assert OutboundTransaction.objects.filter(permit_id=permit_id).count() == len(problem["tx_hashes"])


@pytest.mark.usefixtures("worker")
def test_answers_and_refusals_have_the_form_that_the_schema_documents(live: Agent) -> None:
    permit = live.post("preview_action", SWAP)
    permit_id = permit.json()["permit_id"]
    commit = {"permit_id": permit_id}
    documented = SchemaGenerator().get_schema(request=None, public=True)
    for path, answer in (
        ("preview_action", permit),
        ("permits/{permit_id}", live.get(f"permits/{permit_id}")),
        ("commit_action", live.post("commit_action", commit)),
        ("commit_action", live.post("commit_action", commit)),
        ("preview_action", live.post("preview_action", {**SWAP, "amount": "1.5"})),
        ("preview_action", live.send("POST", f"{PI}/preview_action", "swap", content_type="text/plain")),
        ("query_state", live.post("query_state", {"query": "limits"})),
        ("query_state", live.post("query_state", {"query": "a" * 70_000})),
        ("query_grimoire", live.post("query_grimoire", {"query": "swap"})),
        ("search_context", live.post("search_context", {"query": "swap"})),
        ("manifest", live.get("manifest")),
    ):
        check_documented(documented, path, answer)


def check_documented(documented: dict[str, Any], path: str, answer: Any) -> None:
    """The answer's status and type are documented at `path`, and its body fits the schema there."""
    method = documented["paths"][f"{PI}/{path}"][answer.wsgi_request.method.lower()]
    status, responses = str(answer.status_code), method["responses"]
    told = responses[status] if status in responses else responses[f"{status[0]}XX"]
    if "$ref" in told:
        told = documented["components"]["responses"][told["$ref"].rpartition("/")[2]]
    content = told["content"]
    schema = content[answer.headers["Content-Type"].partition(";")[0]]["schema"]
    Draft202012Validator({**schema, "components": documented["components"]}).validate(answer.json())


@pytest.mark.usefixtures("worker")
def test_the_agent_of_the_documents_acts_and_mends_what_it_is_told_to_mend(
    live: Agent, live_server: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = read_block("write-an-agent.md", 0)
    monkeypatch.setenv("GOLEM_URL", live_server.url)
    monkeypatch.setenv("GOLEM_TOKEN", live.key.token)
    said = []
    for amount in ("500", "12000000000"):
        monkeypatch.setattr(sys, "argv", ["agent.py", amount])
        exec(compile(program, "agent.py", "exec"), {})
        said.append(capsys.readouterr().out)
    mended, refused = said
    assert "AMOUNT_LOOKS_LIKE_WHOLE_UNITS FIX_PARAMS" in mended
    assert "-500 USDC" in mended
    assert "COMMITTED" in mended.splitlines()[-1]
    assert refused.splitlines()[-1] == "SAFETY_SPENDING_LIMIT_EXCEEDED at most $10,000.00, gas included"
    assert OutboundTransaction.objects.filter(permit__golem=live.golem).count() == 2


@pytest.mark.usefixtures("worker")
def test_the_command_of_the_page_runs_the_agent(live: Agent, live_server: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(read_block("write-an-agent.md", 0))
    told = {"GOLEM_URL": live_server.url, "GOLEM_TOKEN": live.key.token}
    ran = run_in_shell(read_block("write-an-agent.md", 1), folder=tmp_path, environment=told)
    assert ran.returncode == 0, ran.stderr
    assert "COMMITTED" in ran.stdout.splitlines()[-1]
    without = run_in_shell(read_block("write-an-agent.md", 1), folder=tmp_path, environment={})
    assert without.returncode and "a token of the golem" in without.stderr


def test_the_commands_of_the_page_sign_an_agent_in(live: Agent, live_server: Any, tmp_path: Path) -> None:
    told = {"GOLEM_URL": live_server.url}
    ran = run_in_shell(read_block("write-an-agent.md", 2), folder=tmp_path, environment=told)
    asked = json.loads(ran.stdout.splitlines()[0])
    live.golem.owner.groups.add(ensure_owner_group())
    owner = Client()
    owner.force_login(live.golem.owner)
    body = {"code": asked["user_code"], "do": "approve", "golem": str(live.golem.pk), "scopes": ["read"]}
    assert owner.post(reverse("sign_in_agent"), {**body, "lifetime_days": "1", "is_mine": "on"}).status_code == 302
    told["DEVICE_CODE"] = asked["device_code"]
    ran = run_in_shell(read_block("write-an-agent.md", 2), folder=tmp_path, environment=told)
    token = json.loads(ran.stdout.splitlines()[1])["access_token"]
    read = live.client.get(f"{PI}/manifest", headers={"Authorization": f"Bearer {token}"})
    assert read.json()["golem"]["golem_id"] == str(live.golem.pk)


@pytest.mark.usefixtures("worker")
def test_the_bad_input_of_an_action_is_refused_by_the_worker_as_a_problem(live: Agent) -> None:
    rows: list[tuple[dict[str, Any], int, str]] = [
        ({**SWAP, "action_type": "teleport"}, 404, "UNKNOWN_ACTION"),
        ({**SWAP, "venue": "aave"}, 404, "UNKNOWN_VENUE"),
        ({**SWAP, "chain_id": 999_999}, 422, "CHAIN_NOT_SUPPORTED"),
        ({**SWAP, "amount": "1.5"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": "0"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": "-5"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": str(2**256)}, 422, "INVALID_PARAMS"),
        ({**SWAP, "amount": "five hundred"}, 422, "INVALID_PARAMS"),
        ({**SWAP, "slippage_bps": 10_001}, 422, "INVALID_PARAMS"),
        ({**SWAP, "token_in": "0x" + "1" * 39}, 422, "INVALID_PARAMS"),
        ({**SWAP, "colour": "red"}, 422, "INVALID_PARAMS"),
        ({"action_type": "swap"}, 422, "INVALID_PARAMS"),
    ]
    for body, status, code in rows:
        assert_problem(live.post("preview_action", body), status, code, "FIX_PARAMS")
    raw = b'{"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": 1.5}'
    fraction = live.send("POST", "/api/v1/pi/preview_action", raw)
    assert "amount" in assert_problem(fraction, 422, "INVALID_PARAMS")["fields"]
    assert ActionPermit.objects.count() == 0


@pytest.mark.usefixtures("worker")
def test_the_seeds_spellings_and_a_strict_providers_nulls_make_the_same_preview(live: Agent) -> None:
    bodies = [
        {"kind": "swap", "params": {name: value for name, value in SWAP.items() if name != "action_type"}},
        {**SWAP, "venue": "Uniswap", "slippage_bps": None, "position_id": None, "chain_id": None},
    ]
    hashes = []
    for body in bodies:
        permit = live.post("preview_action", body).json()
        hashes.append(ActionPermit.objects.get(pk=permit["permit_id"]).action_hash)
        cancelled = live.post("cancel_action", {"permit_id": permit["permit_id"], "reason": "compare only"})
        assert cancelled.json()["status"] == "CANCELLED"
    assert len(set(hashes)) == 1


@pytest.mark.usefixtures("worker")
def test_a_golem_whose_write_tools_are_gone_has_no_preview(live: Agent) -> None:
    for tool in REGISTRY:
        if tool.pi_tool is PiTool.PREVIEW_ACTION:
            ToolOverride.objects.update_or_create(
                golem=live.golem, tool_name=tool.name, defaults={"mode": OverrideMode.EXCLUDE}
            )
    assert_problem(live.post("preview_action", SWAP), 404, "UNKNOWN_TOOL", "FIX_PARAMS")


@pytest.mark.usefixtures("worker")
def test_a_cancelled_permit_cannot_be_committed(live: Agent) -> None:
    permit_id = live.post("preview_action", SWAP).json()["permit_id"]
    live.post("cancel_action", {"permit_id": permit_id, "reason": "no longer wanted"})
    assert_problem(live.post("commit_action", {"permit_id": permit_id}), 409, "PERMIT_NOT_COMMITTABLE")
    again = live.post("cancel_action", {"permit_id": permit_id, "reason": "once more"})
    assert_problem(again, 409, "PERMIT_NOT_CANCELLABLE", "CHECK_STATE")


def test_a_read_tool_answers_through_query_state_with_units_beside_amounts(live: Agent) -> None:
    body = {"query": "quote", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
    response = live.post("query_state", body)
    answer = response.json()
    assert response.status_code == 200, answer
    assert set(answer) == set(wire.ToolResultOutput().fields) - {"tool_schema"}
    assert answer["data"]["amount_in"] == "500000000"
    assert answer["data"]["amount_in_units"] == "500 USDC"


def test_a_read_that_can_go_on_tells_how_far_it_came_while_it_runs_and_when_its_time_is_over(
    live: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_tools, "SCAN_BLOCKS", 40)
    # It stands still but for what is let pass here: how busy the machine is ends nothing.
    at_ms, scans = [0.0], count(1)
    monkeypatch.setattr(clock, "monotonic_ms", lambda: at_ms[0])
    original = ChainMarkets.created

    def scan_until_it_is_late(self: ChainMarkets, reader: Any, *, from_block: int, to_block: int) -> Any:
        at_ms[0] += 4_000 if next(scans) == 4 else 80
        return original(self, reader, from_block=from_block, to_block=to_block)

    monkeypatch.setattr(ChainMarkets, "created", scan_until_it_is_late)
    with runner.bounded_by(Deadline.after_ms(4_000)):
        problem = live.post("query_state", {"query": "new_pools", "hours": 48}).json()
    assert (problem["code"], problem["goes_on"]) == ("BUDGET_EXCEEDED", True)
    told = OutboxEvent.objects.filter(golem_id=live.golem.pk, type__in=["tool:update", "tool:error"])
    first, *later, end = told.order_by("sequence").values_list("payload", flat=True)
    assert "checkpoint" not in first and later
    reached = [each["checkpoint"]["next"] for each in (*later, end)]
    assert reached == sorted(reached) and reached[0] < reached[-1]
    # What it goes on from is all there, and nothing of what strangers named.
    left = ToolCheckpoint.objects.get(golem_id=live.golem.pk).data
    assert end["checkpoint"] == {name: left[name] for name in ("chain_id", "since", "next", "count")}


def test_prices_of_tokens_named_in_a_search_come_from_their_feeds(live: Agent) -> None:
    found = live.post("search_context", {"query": "Should I sell WETH for usdc?"}).json()
    assert {price["symbol"] for price in found["prices"]} == {"WETH", "USDC"}, found["warnings"]
    assert all(float(price["price_usd"]) > 0 and price["source"] == "feed" for price in found["prices"])


@pytest.mark.usefixtures("worker")
def test_a_protocol_that_is_not_here_is_refused_and_what_is_here_is_named(live: Agent) -> None:
    live.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    for venue in ("gmx", "panoptic", "arrakis", "balancer"):
        body = {"action_type": "supply", "venue": venue, "token": "USDC", "amount": "1"}
        problem = assert_problem(live.post("preview_action", body), 404, "UNKNOWN_VENUE", "FIX_PARAMS")
        assert venue in problem["detail"] and "aave" in problem["venues"] and venue not in problem["venues"]
    body = {"action_type": "add_liquidity", "venue": "uniswap_v4", "token_a": "WETH", "token_b": "USDC"}
    problem = assert_problem(live.post("preview_action", body), 404, "UNKNOWN_VENUE", "FIX_PARAMS")
    assert problem["venues"] == ["curve", "uniswap"]


@pytest.mark.usefixtures("worker")
def test_an_action_of_a_protocol_that_is_not_here_is_refused_and_what_there_is_is_named(live: Agent) -> None:
    live.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    for action in ("restake", "open_perp_position", "buy_pt", "mint_panoption", "swap_v4"):
        answer = live.post("preview_action", {"action_type": action})
        problem = assert_problem(answer, 404, "UNKNOWN_ACTION", "FIX_PARAMS")
        assert "swap" in problem["available"] and action not in problem["available"]
