"""The Python client against the running server: generated from its document, and nothing done twice."""

from __future__ import annotations

import ast
import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from golem_client import GolemClient, GolemProblem, GolemUnreachable
from golem_client.client import ATTEMPTS
from golem_client.events import MOST_BYTES, read_events

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import MOST_TOOLS
from permits_app.models import ActionPermit, OutcomeRecord
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.clients.lossy_line import LossyLine
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.golem_project.stream.conftest import emit
from tests.how_to import read_block, run_in_shell

FOLDER = ROOT / "clients" / "python"
SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}


@pytest.fixture
def line(live_server: Any) -> Iterator[LossyLine]:
    """A line to the server of this test."""
    found = LossyLine((live_server.thread.host, live_server.thread.port))
    yield found
    found.close()


@pytest.fixture
def client(door: Door, line: LossyLine) -> GolemClient:
    """Its golem has money, and its key is an ordinary one."""
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    return GolemClient(line.url, door.agent.key.token, sleep=lambda seconds: None)


def test_the_operations_are_those_of_the_document() -> None:
    call_command("clients", "--check")


def test_the_client_needs_nothing_but_python() -> None:
    allowed = {*sys.stdlib_module_names, "golem_client"}
    for path in (FOLDER / "golem_client").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert str(node.module).split(".")[0] in allowed, path
            elif isinstance(node, ast.Import):
                assert {each.name.split(".")[0] for each in node.names} <= allowed, path


def test_it_runs_where_nothing_of_the_product_is(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "golem_client", tmp_path / "site" / "golem_client")
    code = "import golem_client; print(golem_client.GolemClient('http://127.0.0.1:1', 'golem_secret'))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); {code}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.stdout.strip() == "GolemClient('127.0.0.1')", ran.stderr


def test_a_swap_goes_from_manifest_to_its_outcome(client: GolemClient) -> None:
    assert len(client.manifest()["tools"]) == 8
    quote = client.query_state(query="quote", token_in="USDC", token_out="WETH", amount="500000000")
    assert int(quote["data"]["amount_out"]) > 0
    permit = client.preview_action(**SWAP)
    assert client.get_permit(permit["permit_id"])["status"] == "CREATED"
    answer = client.commit_action(permit_id=permit["permit_id"])
    ended = client.wait_for_outcome(answer["permit"]["permit_id"])
    assert ended["status"] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit_id=ended["permit_id"]).is_verified
    assert [each["permit_id"] for each in client.list_permits(status="COMMITTED")["permits"]] == [ended["permit_id"]]


def test_the_command_and_the_program_of_the_page_swap(door: Door, line: LossyLine, tmp_path: Path) -> None:
    source, installed = tmp_path / "clients" / "python", tmp_path / "installed"
    shutil.copytree(FOLDER, source, ignore=shutil.ignore_patterns("examples", "build", "*.egg-info", "__pycache__"))
    # Away from the packages of this test run, with the builder that is among them (0 is pip's word for "no isolation").
    told = {"PIP_TARGET": str(installed), "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    ran = run_in_shell(read_block("use-the-python-client.md", 0), folder=tmp_path, environment=told)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    program = read_block("use-the-python-client.md", 1)
    environment = {"PYTHONPATH": str(installed), "GOLEM_URL": line.url, "GOLEM_TOKEN": door.agent.key.token}
    argv = [sys.executable, "-c", program]
    ran = subprocess.run(argv, cwd=installed, env=environment, capture_output=True, text=True, timeout=90)
    assert ran.stdout.splitlines()[-1:] == ["COMMITTED"], ran.stdout + ran.stderr


def test_answers_that_are_lost_are_given_again_and_nothing_happens_twice(
    client: GolemClient, line: LossyLine, door: Door
) -> None:
    nonce = door.stage.live.mined_nonce()
    line.loses = 2
    permit = client.preview_action(**SWAP)
    assert line.requests == 3
    assert ActionPermit.objects.count() == 1
    line.loses = 1
    answer = client.commit_action(permit_id=permit["permit_id"])
    assert answer["permit"]["status"] == "COMMITTED"
    assert door.stage.live.mined_nonce() == nonce + len(answer["permit"]["transactions"])


def test_a_line_that_stays_dead_names_the_key_to_ask_again_with(client: GolemClient, line: LossyLine) -> None:
    line.loses = 4
    with pytest.raises(GolemUnreachable) as caught:
        client.preview_action(**SWAP)
    permit = client.preview_action(**SWAP, idempotency_key=caught.value.idempotency_key)
    assert [str(each.pk) for each in ActionPermit.objects.all()] == [permit["permit_id"]]


def test_a_refusal_is_told_once_with_the_call_that_is_right(client: GolemClient, line: LossyLine) -> None:
    with pytest.raises(GolemProblem) as caught:
        client.query_state(query="gas_prices")
    assert (caught.value.code, caught.value.recovery, line.requests) == ("UNKNOWN_ACTION", "FIX_PARAMS", 1)
    assert caught.value.next_call is not None
    # What was not loaded is carried out, and its answer says how it is called.
    assert client.query_state(query="gas_price")["tool_schema"]["tool"] == "wallet_get_gas_price"


def test_an_unchanged_manifest_costs_nothing(client: GolemClient, door: Door) -> None:
    etag = door.agent.get("manifest").headers["ETag"]
    assert client.manifest(if_none_match=etag) == {}


def test_the_token_stands_in_no_words_of_the_client(client: GolemClient, door: Door) -> None:
    token = door.agent.key.token
    with pytest.raises(GolemProblem) as caught:
        client.get_permit("../manifest")
    assert caught.value.status == 404
    assert token not in repr(client) + str(caught.value) + str(caught.value.members)


@pytest.mark.django_db(transaction=True)
def test_events_go_on_where_they_were_cut_off(web_port: int, make_agent: MakeAgent) -> None:
    agent = make_agent()
    client = GolemClient(f"http://127.0.0.1:{web_port}", agent.key.token)
    emit(agent.golem.pk, *range(5))
    first = client.events(since="2020-01-01T00:00:00Z")
    received = list(islice(first, 2))
    first.close()
    emit(agent.golem.pk, 5)
    second = client.events(last_event_id=received[-1].id)
    received += list(islice(second, 4))
    second.close()
    assert [event.data["payload"]["duration_ms"] for event in received] == list(range(6))


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        list(read_events(io.BytesIO(b"data: " + b"x" * (MOST_BYTES + 10))))


def test_a_program_that_lost_the_answer_of_its_commit_goes_on_and_pays_once(
    door: Door, line: LossyLine, tmp_path: Path
) -> None:
    program, note = FOLDER / "examples" / "lost_answer.py", tmp_path / "note.json"
    environment = {"PYTHONPATH": str(FOLDER), "GOLEM_URL": line.url, "GOLEM_TOKEN": door.agent.key.token}

    def run() -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, str(program), str(note)]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120)

    nonce = door.stage.live.mined_nonce()
    line.loses = ATTEMPTS
    assert run().returncode == 75, "the preview's answer never came"
    line.loses_after, line.loses = 1, ATTEMPTS
    assert run().returncode == 75, "the permit came, and no answer to its commit"
    assert ActionPermit.objects.get().status == "COMMITTED", "it was sent, and the program does not know"
    third, fourth = run(), run()
    assert (third.stdout.split(), fourth.stdout.split()) == (["COMMITTED"], ["COMMITTED"]), third.stderr
    permit = ActionPermit.objects.get()
    assert door.stage.live.mined_nonce() == nonce + permit.transactions.count()
