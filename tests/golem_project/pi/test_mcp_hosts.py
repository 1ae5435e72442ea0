"""Hosts that others made, at the MCP door: revision 2026-07-28 without a session, and those before it.

The official Inspector and the official TypeScript client come by their lock from npm; the OpenAI Agents SDK brings its
own client, and the official Python client is the one of test_mcp_door.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.test import Client as Browser

from golem_project.embedded.npm_tree import newest_node
from permits_app.models import ActionPermit, ChangeRequest, OutcomeRecord
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.clients.npm_package import tree_or_skip
from tests.golem_project.pi.conftest import SWAP, Agent, MakeAgent
from tests.golem_project.stream.conftest import web_port as web_port
from tests.permits_app.approvals.conftest import critical_swap as critical_swap

if TYPE_CHECKING:
    from mcp import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

HERE: Final = ROOT / "tests" / "golem_project" / "pi" / "mcp_hosts"
REVISION: Final = "2026-07-28"
AT_UNISWAP: Final = {**SWAP, "venue": "uniswap"}
CAN_SHOW: Final[dict[str, Any]] = {"elicitation": {"url": {}}}


@pytest.fixture(autouse=True)
def is_on(settings: Any) -> None:
    settings.GOLEM_MCP = True


def say(
    port: int, token: str, method: str, params: dict[str, Any] | None = None, *, can: dict[str, Any] | None = None
) -> httpx.Response:
    """One request of the revision: no handshake before it, no session with it."""
    named = str((params or {}).get("name") or (params or {}).get("uri") or "")
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": method,
        **({"Mcp-Name": named} if named else {}),
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": can or {},
    }
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**(params or {}), "_meta": meta}}
    return httpx.post(f"http://127.0.0.1:{port}/mcp", json=body, headers=headers, timeout=60)


def with_host(port: int, token: str, play: Any, **options: Any) -> Any:
    """What `play` comes to with the official Python client as a host."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> Any:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport, **options) as client:
                return await play(client)

    return asyncio.run(run())


def test_each_request_stands_alone_and_no_session_is_given_out(web_port: int, agent: Agent) -> None:
    found = say(web_port, agent.key.token, "server/discover").json()["result"]
    assert REVISION in found["supportedVersions"] and found["resultType"] == "complete"
    listed = say(web_port, agent.key.token, "tools/list")
    assert "mcp-session-id" not in listed.headers
    assert len(listed.json()["result"]["tools"]) == len(agent.get("manifest").json()["tools"])
    answered = say(web_port, agent.key.token, "tools/call", {"name": "query_state", "arguments": {"query": "limits"}})
    assert answered.json()["result"]["isError"] is False


def test_a_person_opens_the_link_in_the_client_approves_and_the_same_call_is_carried_on(
    web_port: int, door: Door, critical_swap: None
) -> None:
    links: list[str] = []
    permit = door.post("preview_action", AT_UNISWAP)

    async def play(client: Client) -> Any:
        return await client.call_tool("commit_action", {"permit_id": permit["permit_id"]})

    async def open_link(context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        links.append(params.url)
        await sync_to_async(door.commit, thread_sensitive=False)(permit)
        return ElicitResult(action="accept")

    answer = with_host(web_port, door.agent.key.token, play, elicitation_callback=open_link)
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    page = f"/admin/permits_app/changerequest/{request.pk}/change/"
    assert permit["waits"]["page"] == page
    assert links == [f"http://127.0.0.1:{web_port}{page}"]
    assert answer.structured_content["permit_status"] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified
    browser = Browser()
    browser.force_login(door.co_owner)
    assert browser.get(page).status_code == 200


@pytest.mark.parametrize("action", ["decline", "cancel", "accept"])
def test_who_does_not_approve_moves_nothing_and_is_told_that_it_waits(
    web_port: int, door: Door, critical_swap: None, action: str
) -> None:
    async def play(client: Client) -> Any:
        permit = (await client.call_tool("preview_action", AT_UNISWAP)).structured_content
        assert permit is not None
        return await client.call_tool("commit_action", {"permit_id": permit["permit_id"]})

    async def shrug(context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        return ElicitResult(action=action)

    answer = with_host(web_port, door.agent.key.token, play, elicitation_callback=shrug)
    assert answer.is_error and answer.structured_content["code"] == "PERMIT_NOT_COMMITTABLE"
    assert ActionPermit.objects.get().status == "AWAITING_APPROVAL"


def test_only_a_host_that_shows_links_is_asked_and_only_while_owners_are_waited_for(
    web_port: int, door: Door, critical_swap: None
) -> None:
    token = door.agent.key.token
    permit = door.post("preview_action", AT_UNISWAP)
    call = {"name": "commit_action", "arguments": {"permit_id": permit["permit_id"]}}
    cannot: list[dict[str, Any]] = [{}, {"elicitation": {"form": {}}}]
    for can in cannot:
        told = say(web_port, token, "tools/call", call, can=can).json()["result"]
        assert told["isError"] and told["resultType"] == "complete"
    asked = say(web_port, token, "tools/call", call, can=CAN_SHOW).json()["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["approval"]["params"]["mode"] == "url"
    unknown = {"name": "commit_action", "arguments": {"permit_id": "00000000-0000-4000-8000-000000000000"}}
    assert say(web_port, token, "tools/call", unknown, can=CAN_SHOW).json()["result"]["isError"]
    door.commit(permit)
    late = say(web_port, token, "tools/call", call, can=CAN_SHOW).json()["result"]
    assert late["structuredContent"]["permit_status"] == "COMMITTED"


def test_a_permit_is_a_resource_that_tells_its_story_to_its_own_golem_alone(
    web_port: int, door: Door, make_agent: MakeAgent
) -> None:
    permit = door.post("preview_action", AT_UNISWAP)
    uri = f"golem://permits/{permit['permit_id']}"

    async def play(client: Client) -> Any:
        templates = (await client.list_resource_templates()).resource_templates
        listed = (await client.list_resources()).resources
        return templates, listed, await client.read_resource(uri)

    templates, listed, story = with_host(web_port, door.agent.key.token, play)
    assert [each.uri_template for each in templates] == ["golem://permits/{permit_id}"]
    assert [str(each.uri) for each in listed] == [uri] and "created" in listed[0].name
    told = json.loads(story.contents[0].text)
    assert told == door.agent.get(f"permits/{permit['permit_id']}").json()
    stranger = make_agent().key.token
    for address in (uri, "golem://permits/../manifest", "golem://permits/x?status=CREATED", "file:///etc/passwd"):
        assert "error" in say(web_port, stranger, "resources/read", {"uri": address}).json(), address
    assert say(web_port, stranger, "resources/list").json()["result"]["resources"] == []


def test_a_host_of_the_revisions_before_still_shakes_hands(web_port: int, agent: Agent) -> None:
    async def play(client: Client) -> int:
        return len((await client.list_tools()).tools)

    assert with_host(web_port, agent.key.token, play, mode="legacy") == len(agent.get("manifest").json()["tools"])


def test_the_openai_agents_sdk_lists_previews_and_commits_by_its_own_client(web_port: int, door: Door) -> None:
    from agents.mcp import MCPServerStreamableHttp

    async def play() -> str:
        headers = {"Authorization": f"Bearer {door.agent.key.token}"}
        told: Any = {"url": f"http://127.0.0.1:{web_port}/mcp", "headers": headers, "timeout": 60}
        async with MCPServerStreamableHttp(told, client_session_timeout_seconds=60) as golem:
            assert "commit_action" in [tool.name for tool in await golem.list_tools()]
            permit: Any = await golem.call_tool("preview_action", AT_UNISWAP)
            permit_id = json.loads(permit.content[0].text)["permit_id"]
            answer: Any = await golem.call_tool("commit_action", {"permit_id": permit_id})
            return str(json.loads(answer.content[0].text)["status"])

    assert asyncio.run(play()) == "COMMITTED"
    assert OutcomeRecord.objects.get(permit=ActionPermit.objects.get()).is_verified


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    """A folder with what the lock beside installs, and the programs."""
    (tmp_path / "node_modules").symlink_to(tree_or_skip(HERE))
    for each in (*HERE.glob("*.mjs"), HERE / "package.json"):
        shutil.copy(each, tmp_path)
    return tmp_path


def _inspect(hosts: Path, port: int, token: str, *words: str) -> Any:
    program = hosts / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build"
    argv = [newest_node(), str(program / "index.js"), "--cli", f"http://127.0.0.1:{port}/mcp", "--transport", "http"]
    ran = subprocess.run(
        [*argv, "--header", f"Authorization: Bearer {token}", *words],
        cwd=hosts,
        env={"PATH": os.environ["PATH"], "HOME": str(hosts)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stdout.strip(), ran.stderr
    return json.loads(ran.stdout)


def test_the_official_inspector_lists_calls_and_reads(hosts: Path, web_port: int, door: Door) -> None:
    token = door.agent.key.token
    permit = door.post("preview_action", AT_UNISWAP)
    listed = _inspect(hosts, web_port, token, "--method", "tools/list")["tools"]
    assert {tool["name"] for tool in listed} >= {"preview_action", "commit_action", "query_state"}
    called = _inspect(
        hosts, web_port, token, "--method", "tools/call", "--tool-name", "query_state", "--tool-arg", "query=limits"
    )
    told = door.agent.post("query_state", {"query": "limits"}).json()
    assert called["structuredContent"]["data"]["per_transaction"] == told["data"]["per_transaction"]
    uri = f"golem://permits/{permit['permit_id']}"
    assert [each["uri"] for each in _inspect(hosts, web_port, token, "--method", "resources/list")["resources"]] == [
        uri
    ]
    story = _inspect(hosts, web_port, token, "--method", "resources/read", "--uri", uri)
    assert json.loads(story["contents"][0]["text"])["permit_id"] == permit["permit_id"]


def test_a_host_of_the_official_typescript_client_shows_the_link_and_goes_on(
    hosts: Path, web_port: int, door: Door, critical_swap: None
) -> None:
    permit = door.post("preview_action", AT_UNISWAP)
    argv = [newest_node(), "approve_by_link.mjs", f"http://127.0.0.1:{web_port}/mcp", door.agent.key.token]
    with subprocess.Popen(
        [*argv, permit["permit_id"]],
        cwd=hosts,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as host:
        assert host.stdout is not None and host.stdin is not None and host.stderr is not None
        shown = host.stdout.readline().split()
        if not shown:
            pytest.fail(host.stderr.read())
        assert shown == ["url", f"http://127.0.0.1:{web_port}{permit['waits']['page']}"]
        door.commit(permit)
        host.stdin.write("decided\n")
        host.stdin.flush()
        said, wrong = host.communicate(timeout=60)
    assert said.split() == ["PERMIT_ALREADY_COMMITTED", "COMMITTED", "COMMITTED"], wrong
