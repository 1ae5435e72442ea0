"""The JSON pages: the same events as the stream, cursor by cursor."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.stream.conftest import PATH, emit

pytestmark = pytest.mark.django_db(transaction=True)


def get(agent: Agent, query: str = "", **headers: str) -> Any:
    return agent.client.get(f"{PATH}{query}", headers={"Authorization": f"Bearer {agent.key.token}", **headers})


def test_pages_follow_one_another_without_gap_and_end(make_agent: MakeAgent) -> None:
    agent, other = make_agent(), make_agent()
    for number in range(30):
        emit(agent.golem.pk, number)
        emit(other.golem.pk, 99)
    found, query = [], "?limit=7"
    while True:
        page = get(agent, query).json()
        found += page["events"]
        if not page["has_more"]:
            break
        query = f"?limit=7&cursor={page['next_cursor']}"
    assert [event["payload"]["duration_ms"] for event in found] == list(range(30))
    assert [event["sequence"] for event in found] == list(range(1, 31))
    emit(agent.golem.pk, 30)
    later = get(agent, f"?cursor={page['next_cursor']}").json()
    assert [event["payload"]["duration_ms"] for event in later["events"]] == [30]


def test_the_cursor_of_an_event_is_the_id_of_the_stream(make_agent: MakeAgent) -> None:
    agent = make_agent()
    emit(agent.golem.pk, 1, 2, 3)
    first = get(agent).json()["events"][0]
    rest = get(agent, f"?last_event_id={first['cursor']}").json()["events"]
    assert [event["payload"]["duration_ms"] for event in rest] == [2, 3]
    assert get(agent, "", **{"Last-Event-ID": first["cursor"]}).json()["events"] == rest


@pytest.mark.parametrize("limit", ["0", "501", "-1", "x", "1e3", "٣"])
def test_a_limit_out_of_range_is_refused(make_agent: MakeAgent, limit: str) -> None:
    response = get(make_agent(), f"?limit={limit}")
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_PARAMS")


def test_a_server_without_streams_says_so(make_agent: MakeAgent) -> None:
    response = get(make_agent(), Accept="text/event-stream")
    assert (response.status_code, response.json()["code"]) == (406, "STREAM_UNAVAILABLE")


def test_nobody_reads_without_a_token_and_nobody_reads_another_golem(make_agent: MakeAgent) -> None:
    agent, other = make_agent(), make_agent()
    emit(other.golem.pk, 1)
    refused = Client().get(PATH)
    assert (refused.status_code, refused.json()["code"]) == (401, "API_KEY_MISSING")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert get(agent).json()["events"] == []
    assert get(agent, f"?golem={other.golem.pk}").json()["code"] == "GOLEM_UNKNOWN"
    for empty in ("", ",", "%20"):
        refused = get(agent, f"?golem={empty}")
        assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_PARAMS"), empty
    assert Client().post(PATH).status_code in (401, 405)
