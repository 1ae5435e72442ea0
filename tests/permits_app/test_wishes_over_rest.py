"""The worked example of a module over REST alone: it quotes a swap, asks for it, the permit says whose wish it was."""

from __future__ import annotations

from datetime import timedelta

from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.passing_time import come_back, let_pass
from tests.permits_app.test_brought_tools import ASKED, approve, bring


def test_over_the_agents_door_a_module_asks_for_a_swap_and_the_permit_shows_whose_wish_it_was(door: Door) -> None:
    golem = door.agent.golem
    definition = bring(golem.owner)
    approve(definition, golem)
    told = door.post("query_state", {"query": "quote_scout", **ASKED})
    assert told["data"]["answer"]["untrusted"] is True and float(told["data"]["answer"]["value"]["usd"]) > 0
    (wish,) = told["data"]["action_requests"]
    permit = door.post("preview_action", {"action_type": "swap", "wish_id": wish["wish_id"]})
    assert permit["wished_by"]["definition_hash"] == definition.definition_hash
    ended = door.commit(permit)
    assert (ended["status"], ended["wished_by"]["tool"]) == ("COMMITTED", "quote_scout")
    assert ended["wished_by"]["wish_id"] == wish["wish_id"]


def test_a_wish_of_a_future_that_did_not_come_is_over(door: Door) -> None:
    golem = door.agent.golem
    approve(bring(golem.owner), golem)
    let_pass(timedelta(hours=2))
    (wish,) = door.post("query_state", {"query": "quote_scout", **ASKED})["data"]["action_requests"]
    come_back()
    asked = {"action_type": "swap", "wish_id": wish["wish_id"]}
    answer = door.agent.post("preview_action", asked)
    assert answer.status_code == 404 and answer.json()["code"] == "WISH_NOT_FOUND"
