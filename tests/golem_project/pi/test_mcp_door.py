"""The Model Context Protocol's own client at the real ASGI application: the same tools, the same rules, or nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import pytest
from asgiref.sync import sync_to_async

from archetypes_app.models import ApiKey
from archetypes_app.models.api_key import Scope
from archetypes_app.tool_loadout import MOST_TOOLS
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.golem_project.pi.conftest import SWAP, Agent, MakeAgent
from tests.golem_project.stream.conftest import web_port as web_port
from tests.how_to import read_block
from tests.permits_app.approvals.conftest import critical_swap as critical_swap

if TYPE_CHECKING:
    from mcp import Client

Work = Callable[["Client"], Coroutine[Any, Any, Any]]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def is_on(settings: Any) -> None:
    settings.GOLEM_MCP = True


def with_client(port: int, token: str, work: Work) -> Any:
    """What `work` comes to with a connected client."""
    # The client's library is loaded by who asks with it: every process of a run reads this file.
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client:
                return await work(client)

    return asyncio.run(run())


def call(port: int, token: str, name: str, arguments: dict[str, Any], **options: Any) -> Any:
    return with_client(port, token, lambda client: client.call_tool(name, arguments, **options))


def test_the_program_of_the_page_goes_from_the_tools_to_the_outcome(web_port: int, door: Door) -> None:
    program = read_block("use-mcp.md", 0)
    environment = {
        "GOLEM_URL": f"http://127.0.0.1:{web_port}",
        "GOLEM_TOKEN": door.agent.key.token,
        "PATH": os.environ["PATH"],
    }
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=90)
    assert ran.stdout.splitlines() == ["8 tools", "COMMITTED"], ran.stdout + ran.stderr
    assert OutcomeRecord.objects.get(permit=ActionPermit.objects.get()).is_verified


def test_what_waits_for_owners_is_carried_out_when_they_approve_and_the_client_finds_the_outcome(
    web_port: int, door: Door, critical_swap: None
) -> None:
    swap = {**SWAP, "venue": "uniswap"}

    async def play(client: Client) -> tuple[Any, Any, Any]:
        permit = (await client.call_tool("preview_action", swap)).structured_content
        early = await client.call_tool("commit_action", {"permit_id": permit["permit_id"]})
        await sync_to_async(door.commit, thread_sensitive=False)({**permit, "http": 200})
        late = await client.call_tool("commit_action", {"permit_id": permit["permit_id"]})
        return permit, early, late

    permit, early, late = with_client(web_port, door.agent.key.token, play)
    assert (permit["status"], permit["waits"]["state"]) == ("AWAITING_APPROVAL", "waits for owners")
    assert (early.is_error, early.structured_content["code"]) == (True, "PERMIT_NOT_COMMITTABLE")
    told = late.structured_content
    assert (told["code"], told["permit_status"]) == ("PERMIT_ALREADY_COMMITTED", "COMMITTED")
    sent = OutboundTransaction.objects.filter(permit_id=permit["permit_id"]).order_by("call_index")
    assert told["tx_hashes"] == [each.tx_hash for each in sent] != []
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified


def test_the_tools_are_those_of_the_manifest_with_hints_of_the_same_rule(web_port: int, make_agent: MakeAgent) -> None:
    agent = make_agent()
    listed = with_client(web_port, agent.key.token, lambda client: client.list_tools()).tools
    manifest = agent.get("manifest").json()["tools"]
    assert [tool.name for tool in listed] == [tool["name"] for tool in manifest]
    for tool, told in zip(listed, manifest, strict=True):
        assert set(tool.input_schema["properties"]) == set(told["parameters"]["properties"])
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is told["annotations"]["read_only"]
        assert tool.annotations.destructive_hint is told["annotations"]["destructive"]


def test_what_is_loaded_is_listed_and_what_is_not_is_carried_out_with_its_schema(
    web_port: int, make_agent: MakeAgent
) -> None:
    agent = make_agent(categories=["trading", "lending", "data", "wallet"], most_tools=MOST_TOOLS)

    def actions(client_answer: Any) -> str:
        (tool,) = [each for each in client_answer.tools if each.name == "preview_action"]
        return str(tool.input_schema["properties"]["action_type"])

    token = agent.key.token
    answered = call(web_port, token, "query_state", {"query": "supported_chains"})
    assert not answered.is_error
    assert answered.structured_content["tool_schema"]["tool"] == "wallet_get_supported_chains"
    for _ in range(3):
        assert not call(web_port, token, "query_state", {"query": "load_tools", "tools": ["aave_supply"]}).is_error
    assert "supply@aave" in actions(with_client(web_port, token, lambda client: client.list_tools()))


@pytest.mark.parametrize("name", ["preview_acton", "../../admin/", "manifest", "a b\n", "", "pi/preview_action"])
def test_a_tool_that_is_none_is_refused_whatever_it_is_called(web_port: int, make_agent: MakeAgent, name: str) -> None:
    answer = call(web_port, make_agent().key.token, name, {})
    assert answer.is_error
    assert answer.structured_content["status"] in (404, 405)


def test_a_scope_that_is_missing_and_a_permit_of_another_are_refused_as_over_http(
    web_port: int, make_agent: MakeAgent
) -> None:
    reader = make_agent(scopes=[Scope.READ])
    refused = call(web_port, reader.key.token, "preview_action", SWAP)
    assert refused.structured_content["code"] == reader.post("preview_action", SWAP).json()["code"]
    foreign = {"permit_id": "00000000-0000-4000-8000-000000000000"}
    other = make_agent()
    answer = call(web_port, other.key.token, "commit_action", foreign)
    assert answer.structured_content["code"] == other.post("commit_action", foreign).json()["code"]


def test_without_a_living_token_nobody_lists_or_calls_anything(web_port: int, make_agent: MakeAgent) -> None:
    from mcp.shared.exceptions import MCPError

    bare = httpx.post(f"http://127.0.0.1:{web_port}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (bare.status_code, bare.json()["code"]) == (401, "API_KEY_MISSING")
    assert bare.headers["WWW-Authenticate"].startswith("Bearer")

    async def list_in_vain(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.list_tools()
        return refused.value.message

    assert with_client(web_port, "golem_wrong", list_in_vain).startswith("API_KEY_INVALID")
    agent = make_agent()
    ApiKey.objects.filter(pk=agent.key.key.pk).update(revoked_at=agent.key.key.created_at)
    answer = call(web_port, agent.key.token, "query_state", {"query": "phase"})
    assert answer.structured_content["code"] == "API_KEY_REVOKED"


def test_a_repeated_call_with_its_key_happens_once(web_port: int, door: Door) -> None:
    meta = {"golem/idempotency-key": "once"}
    swap = {**SWAP, "venue": "uniswap"}
    answers = [call(web_port, door.agent.key.token, "preview_action", swap, meta=meta) for _ in range(2)]
    assert answers[0].structured_content == answers[1].structured_content
    assert ActionPermit.objects.count() == 1


@pytest.mark.parametrize("key", ["é", "\u4f60", "a b", "a\nb", "x" * 201])
def test_a_key_of_other_letters_is_refused_by_its_rule(web_port: int, agent: Agent, key: str) -> None:
    change = {"section": "Notes", "change": "Buy low.", "reason": "because"}
    meta = {"golem/idempotency-key": key}
    answer = call(web_port, agent.key.token, "update_directive", change, meta=meta).structured_content
    assert (answer["code"], answer["recovery"]) == ("IDEMPOTENCY_KEY_INVALID", "FIX_PARAMS")


def test_megabytes_and_what_is_no_message_are_refused(web_port: int, agent: Agent) -> None:
    url, headers = f"http://127.0.0.1:{web_port}/mcp", {"Authorization": f"Bearer {agent.key.token}"}
    accept = {**headers, "Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    assert httpx.post(url, content=b'{"x":"' + b"a" * 2_000_000 + b'"}', headers=accept).status_code == 413
    for body in (b"", b"{", b"[]", b'{"jsonrpc":"2.0"}', b"[" * 50_000):
        assert 400 <= httpx.post(url, content=body, headers=accept).status_code < 500, body[:20]


def test_the_door_is_closed_unless_it_was_opened(web_port: int, agent: Agent, settings: Any) -> None:
    settings.GOLEM_MCP = False
    headers = {"Authorization": f"Bearer {agent.key.token}"}
    assert httpx.post(f"http://127.0.0.1:{web_port}/mcp", json={}, headers=headers).status_code == 404


def test_the_door_is_short() -> None:
    assert len((ROOT / "golem_project" / "pi" / "mcp_door.py").read_text().splitlines()) < 200
