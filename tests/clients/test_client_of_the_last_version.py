"""The Python client that the last version gave out, against this server: its own suite, as it was written then.

`releases/VERSION.json` holds the package file by file; it is never changed. What that version was refused and is
carried out now stands in the changelog, and here beside the sentence that told it.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import MOST_TOOLS
from golem_project.pi.released_shapes import list_served, load_releases
from permits_app.models import ActionPermit, OutcomeRecord
from tests.catalogue.door import Door
from tests.clients.lossy_line import LossyLine
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.golem_project.stream.conftest import emit
from tools_app.core import clock

FOLDER = Path(__file__).with_name("releases")
KEPT = sorted(FOLDER.glob("*.json"))
SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
# Before a version had a number of its own its client was this repository's.
BEFORE_CLIENTS_WERE_KEPT = {"0.1.0"}


@pytest.fixture(scope="module", params=KEPT, ids=lambda path: path.stem)
def golem_client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package of a version, imported under its own name and out of the way of this repository's."""
    site = tmp_path_factory.mktemp("released")
    (site / "golem_client").mkdir()
    for name, text in json.loads(request.param.read_text(encoding="utf-8"))["golem_client"].items():
        (site / "golem_client" / name).write_text(text, encoding="utf-8")
    mine = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "golem_client"}
    sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    module = importlib.import_module("golem_client")
    assert module.__file__ is not None and module.__file__.startswith(str(site))
    yield module
    sys.path.remove(str(site))
    for name in [name for name in sys.modules if name.partition(".")[0] == "golem_client"]:
        del sys.modules[name]
    sys.modules.update(mine)


@pytest.fixture
def line(live_server: Any) -> Iterator[LossyLine]:
    """A line to the server of this test."""
    found = LossyLine((live_server.thread.host, live_server.thread.port))
    yield found
    found.close()


@pytest.fixture
def client(door: Door, line: LossyLine, golem_client: ModuleType) -> Any:
    """Its golem has money, and its key is an ordinary one."""
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    return golem_client.GolemClient(line.url, door.agent.key.token, sleep=lambda seconds: None)


def test_the_client_of_every_version_that_is_served_is_kept() -> None:
    served = {each.version for each in list_served(load_releases(), today=clock.now().date())}
    assert served - BEFORE_CLIENTS_WERE_KEPT == {path.stem for path in KEPT}


def test_a_swap_goes_from_manifest_to_its_outcome(client: Any) -> None:
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


def test_answers_that_are_lost_are_given_again_and_nothing_happens_twice(
    client: Any, line: LossyLine, door: Door
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


def test_a_line_that_stays_dead_names_the_key_to_ask_again_with(
    client: Any, line: LossyLine, golem_client: ModuleType
) -> None:
    line.loses = 4
    with pytest.raises(golem_client.GolemUnreachable) as caught:
        client.preview_action(**SWAP)
    permit = client.preview_action(**SWAP, idempotency_key=caught.value.idempotency_key)
    assert [str(each.pk) for each in ActionPermit.objects.all()] == [permit["permit_id"]]


def test_a_refusal_is_told_once_with_the_call_that_is_right(
    client: Any, line: LossyLine, golem_client: ModuleType
) -> None:
    # 0.2.0 was refused what was not loaded and loaded it by `next_call`; now the answer comes at once, and the way
    # that its suite went is open as before.
    assert client.query_state(query="gas_price")["data"]
    client.call("query_state", {"query": "load_tools", "tools": ["wallet_get_gas_price"]}, has_effect=False)
    assert client.query_state(query="gas_price")["data"]
    asked = line.requests
    with pytest.raises(golem_client.GolemProblem) as caught:
        client.query_state(query="gas_prices")
    assert (caught.value.code, caught.value.recovery, line.requests) == ("UNKNOWN_ACTION", "FIX_PARAMS", asked + 1)
    assert caught.value.next_call is not None


def test_an_unchanged_manifest_costs_nothing(client: Any, door: Door) -> None:
    etag = door.agent.get("manifest").headers["ETag"]
    assert client.manifest(if_none_match=etag) == {}


def test_the_token_stands_in_no_words_of_the_client(client: Any, door: Door, golem_client: ModuleType) -> None:
    token = door.agent.key.token
    with pytest.raises(golem_client.GolemProblem) as caught:
        client.get_permit("../manifest")
    assert caught.value.status == 404
    assert token not in repr(client) + str(caught.value) + str(caught.value.members)


@pytest.mark.django_db(transaction=True)
def test_events_go_on_where_they_were_cut_off(web_port: int, make_agent: MakeAgent, golem_client: ModuleType) -> None:
    agent = make_agent()
    client = golem_client.GolemClient(f"http://127.0.0.1:{web_port}", agent.key.token)
    emit(agent.golem.pk, *range(5))
    first = client.events(since="2020-01-01T00:00:00Z")
    received = list(islice(first, 2))
    first.close()
    emit(agent.golem.pk, 5)
    second = client.events(last_event_id=received[-1].id)
    received += list(islice(second, 4))
    second.close()
    assert [event.data["payload"]["duration_ms"] for event in received] == list(range(6))


def test_a_tool_that_was_renamed_since_is_called_by_the_name_of_then(client: Any) -> None:
    assert client.query_grimoire(read="memory_stats")["data"]["episodes"] == 0
    described = client.query_state(query="describe_tool", tools=["get_memory_stats"])["data"]["tools"]
    assert [each["tool"] for each in described] == ["memory_get_stats"]
