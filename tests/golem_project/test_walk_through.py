"""The walk-through of `make run`, played again and again on one database within the hour, as a person tries it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest
from django.test import Client

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import MOST_TOOLS
from golem_project.demo.journey import Journey
from permits_app.actions.cancel import cancel_permit
from permits_app.models import ActionPermit
from permits_app.safety.loop_and_breaker_rules import LOOP_HORIZON, LOOP_MOST_IDENTICAL
from tests.live_golem import LiveGolem
from tools_app.core import clock

RUNS = 10
WARM_PREVIEWS = LOOP_MOST_IDENTICAL + 1


class _InProcess(httpx.BaseTransport):
    """The server of this process, without a socket between."""

    def __init__(self, token: str) -> None:
        self._client, self._token = Client(), token

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._client.generic(
            request.method,
            request.url.path,
            request.read(),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self._token}"},
        )
        return httpx.Response(
            answer.status_code, content=answer.content, headers={"Content-Type": answer["Content-Type"]}
        )


def _play(live: LiveGolem, client: httpx.Client) -> int:
    """What one run previews, commits and measures; answers the amount it chose."""
    journey = Journey(base_url="", token="", rpc_url="", on_step=lambda step: None)
    journey._choose_amount(client)
    wish: dict[str, Any] = journey._swap_body()
    permit = live.preview(**wish)
    assert live.commit(permit["permit_id"])["status"] == "COMMITTED"
    for _ in range(WARM_PREVIEWS):
        measured = live.preview(**wish)
        cancel_permit(
            golem=live.golem,
            permit_id=UUID(measured["permit_id"]),
            reason="measured only",
            actor="key:test",
            now=clock.now(),
        )
    return journey.amount


@pytest.mark.usefixtures("db")
def test_the_walk_through_is_no_loop_however_often_it_is_run(live_golem: LiveGolem) -> None:
    # The demo's key is an ordinary one.
    ApiKey.objects.filter(pk=live_golem.key.key.pk).update(most_tools=MOST_TOOLS)
    with httpx.Client(transport=_InProcess(live_golem.key.token), base_url="http://golem.test") as client:
        amounts = [_play(live_golem, client) for _ in range(RUNS)]
    permits = ActionPermit.objects.filter(golem=live_golem.golem)
    assert len(set(amounts)) == RUNS, "each run asks for another amount"
    assert sum(permit.status == "COMMITTED" for permit in permits) == RUNS
    assert max(permit.created_at for permit in permits) - min(permit.created_at for permit in permits) < LOOP_HORIZON
