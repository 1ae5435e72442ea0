"""A golem that registered as an agent says so: to whom it worked for, on its host, and in its own status."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from archetypes_app.models import HeartbeatTick
from golem_project.a2a.models import Task
from golem_project.a2a.uptime import measure_uptime
from tests.catalogue.circumstances import register_recipient
from tests.catalogue.door import CASES, Door
from tests.catalogue.door import door as door
from tests.evm.world import CHAIN_ID
from tests.factories import make_golem, make_owner
from tests.golem_project.a2a.conftest import JSON_RPC, REST, Line, ask, run, send, state_of
from tests.golem_project.stream.conftest import web_port as web_port
from tests.tools_app.protocols.erc8004.registries import ETH, act, registry
from tests.tools_app.protocols.erc8004.registries import ask as look
from tools_app import runner
from tools_app.core import clock
from tools_app.protocols.erc8004.agent_ids import parse_agent_id
from tools_app.protocols.erc8004.endpoint_domains import check_domains
from tools_app.protocols.erc8004.registration_file import AgentFile, FileSource
from tools_app.toolkit.public_addresses import OwnDoors

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("erc8004")]
PLACE = f"eip155:{CHAIN_ID}:{registry('identity')}"


@pytest.fixture
def line(door: Door, web_port: int) -> Line:
    golem = door.agent.golem
    return Line(f"http://127.0.0.1:{web_port}/a2a/{golem.pk}", door.agent.key.token, golem)


def register(door: Door, **changes: Any) -> str:
    """Over REST, with a permit; the new agent's id."""
    ended = door.commit(door.preview("identity_register_agent", **changes))
    assert ended["status"] == "COMMITTED", ended
    return str(ended["result"]["data"]["agent_id"])


def status_of(door: Door) -> Any:
    return door.post("query_state", {"query": "wallet_status"})["data"]["identity_status"]


def test_a_completed_task_names_the_agent_whom_feedback_is_about(door: Door, line: Line) -> None:
    async def play() -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
        async with line.open(binding=REST) as client:
            before = await send(client, ask("query_state", {"query": "golem"}))
        agent_id = await sync_to_async(register, thread_sensitive=False)(door)
        async with line.open(binding=JSON_RPC, version="0.3", is_streaming=True) as client:
            return before, await send(client, ask("query_state", {"query": "golem"})), agent_id

    before, after, agent_id = run(play())
    assert state_of(before[0]) == "COMPLETED" and "metadata" not in before[0]["task"]
    last = after[-1]["statusUpdate"]
    assert last["metadata"] == {"agentId": agent_id, "agentRegistry": PLACE}
    # The client is a golem too, or has an account of its own: nobody rates unasked.
    world = door.stage.world
    assert look(world, "identity_get_reputation_summary", agent_id=agent_id)["clients"] == 0
    act(world, world.new_account(ETH), "identity_submit_feedback", agent_id=last["metadata"]["agentId"], score=437)
    assert look(world, "identity_get_reputation_summary", agent_id=agent_id)["clients"] == 1


def test_a_refused_task_names_nobody(door: Door, line: Line) -> None:
    register(door)

    async def play() -> list[dict[str, Any]]:
        async with line.open() as client:
            return await send(client, ask("query_state", {"query": "no such thing"}))

    assert state_of(run(play())[-1]) == "REJECTED"
    assert Task.objects.get().done_by == {}


def test_the_host_of_an_agents_door_proves_that_it_is_the_agents(door: Door, line: Line, settings: Any) -> None:
    path = "/.well-known/agent-registration.json"
    assert Client().get(path).status_code == 404
    agent_id = register(door)
    settings.GOLEM_A2A_ROOT_GOLEM = str(door.agent.golem.pk)
    named, door_url = parse_agent_id(agent_id), f"{line.url}/.well-known/agent-card.json"
    told = Client().get(path).json()
    assert told["registrations"] == [{"agentId": named.number, "agentRegistry": PLACE}]
    # It stands for the whole server, and says how reliably that was there, from its own records.
    assert told["role"] == "infrastructure"
    assert (told["uptime"]["ticks_due"], told["uptime"]["uptime_bps"]) == (0, None)
    assert told["uptime"]["commits_mined"] == 1
    file = AgentFile(FileSource.ON_CHAIN)
    proofs = check_domains([door_url], named=named, uri="", file=file, seconds=3, allows_private=True)
    assert proofs == {door_url: "verified"}


def test_the_status_of_the_wallet_tells_the_golems_agent_until_it_is_handed_over(door: Door) -> None:
    assert status_of(door) is None
    first = register(door)
    assert status_of(door) == {"agent_id": first, "registry": PLACE, "is_owned": True}
    register_recipient(door.stage)
    ended = door.commit(door.preview("identity_transfer_ownership", agent_id=first))
    assert ended["status"] == "COMMITTED", ended
    assert status_of(door) is None
    second = register(door)
    gone = door.stage.call(CASES["identity_transfer_ownership"].case, agent_id=second).plan
    assert gone is not None
    # The account signed that elsewhere: no permit of ours tells of it, and the registry does.
    door.stage.carry_out(gone)
    assert status_of(door) == {"agent_id": second, "registry": PLACE, "is_owned": False}


def test_a_registration_names_the_doors_of_its_server_and_the_role_of_the_golem_it_stands_for(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem_id = str(door.agent.golem.pk)
    for name in ("identity_get_agent_profile", "identity_get_reputation_summary"):
        door.agent.golem.tool_overrides.get_or_create(tool_name=name, defaults={"mode": "INCLUDE"})
    doors = OwnDoors(public_url="https://golem.example", has_mcp=True, root_golem=golem_id)
    monkeypatch.setitem(runner.list_services(), OwnDoors, doors)
    agent_id = register(door, registration="{}")
    told = door.agent.post("query_state", {"query": "agent_profile", "agent_id": agent_id}).json()["data"]
    assert told["role"]["value"] == "infrastructure"
    assert [each["endpoint"]["value"] for each in told["services"]] == [
        f"https://golem.example/a2a/{golem_id}/.well-known/agent-card.json",
        "https://golem.example/mcp",
    ]
    # Whoever speaks of the server speaks on a track of its own.
    world = door.stage.world
    act(world, world.new_account(ETH), "identity_submit_feedback", agent_id=agent_id, score=437)
    asked = {"query": "agent_reputation", "agent_id": agent_id}
    everything = door.agent.post("query_state", asked).json()["data"]
    track = door.agent.post("query_state", {**asked, "track": "infrastructure"}).json()["data"]
    assert (everything["clients"], track["clients"], track["total_feedback"]) == (1, 0, 0)


def test_ticks_that_were_missed_or_failed_lower_the_share_of_those_that_were_due(db: None) -> None:
    golem = make_golem(owner=make_owner(name="ana"))
    now = clock.now()
    for number, (status, missed) in enumerate([("COMPLETE", 0), ("COMPLETE", 2), ("FAILED", 0)], start=1):
        HeartbeatTick.objects.create(
            golem=golem,
            number=number,
            fence=number,
            status=status,
            scheduled_at=now,
            started_at=now,
            ended_at=now,
            missed_before=missed,
        )
    told = measure_uptime(golem, now=now)
    assert (told.ticks_due, told.ticks_done, told.uptime_bps) == (5, 2, 4_000)
