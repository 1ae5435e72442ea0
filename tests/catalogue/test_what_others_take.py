"""What others take of a request that goes on is told with the next look: to agents, owners and on its page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from archetypes_app.models import AlertBatch
from golem_project.heartbeat.duties.request_alerts import tell_requests
from permits_app.models import PendingRequest
from permits_app.models.pending_request import RequestState
from tests.catalogue.door import Door
from tests.catalogue.test_restaked_halt import read_page
from tests.catalogue.test_vault_request_halt import ASKED, CLAIM_IN_FOR, follow, kinds, let_operate
from tests.catalogue.test_vault_request_halt import asked as asked
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.erc4626.people import VAULT, settle
from tools_app.core import clock
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent

pytestmark = pytest.mark.protocols("erc4626")


def confirm(live: LiveGolem) -> None:
    live.world.rpc.call("anvil_mine", hex(8))


def told_parts() -> list[str]:
    told = OutboxEvent.objects.filter(type=EventType.REQUEST_TAKEN).order_by("sequence")
    return [f"{each['state']}: {each['reason']}" for each in told.values_list("payload", flat=True)]


def test_a_part_that_an_operator_claims_for_somebody_else_is_told_at_the_next_look_while_the_rest_is_there(
    asked: Door,
) -> None:
    live = asked.stage.live
    follow()
    settle(live.world)
    stranger = live.world.new_account(10**18)
    let_operate(live, stranger.address)
    take = (VAULT, CLAIM_IN_FOR, ASKED // 4, stranger.address, live.golem.address)
    live.world.transact(stranger, *take)
    # Its block is waited for, as everywhere where blocks may go.
    assert follow().state == RequestState.READY and not told_parts()
    confirm(live)
    assert follow().state == RequestState.READY and follow().state == RequestState.READY
    words = "base units of {} were claimed for {}, and not for the account"
    first = f"{2_500 * 10**18} " + words.format(VAULT, stranger.address)
    assert told_parts() == [f"READY: {first}"]
    tell_requests(now=clock.now())
    tell_requests(now=clock.now() + timedelta(minutes=10))
    [batch] = AlertBatch.objects.filter(golem=live.golem, source="pending-requests")
    assert [each["limit"] for each in batch.alerts] == [first]
    page = read_page(live, "permits_app.pendingrequest", "change", PendingRequest.objects.get().pk)
    [waiting] = asked.post("query_state", {"query": "requests"})["data"]["waiting"]
    assert (waiting["state"], waiting["note"]) == ("READY", first)
    assert "Others took" in page and f"{2_500 * 10**18:,} base units of {VAULT[:8]}" in page
    # What is claimed for the account itself is no news, and another part is told with the sum.
    live.world.transact(stranger, VAULT, CLAIM_IN_FOR, ASKED // 4, live.golem.address, live.golem.address)
    live.world.transact(stranger, *take)
    confirm(live)
    assert follow().state == RequestState.READY
    second = f"{5_000 * 10**18} " + words.format(VAULT, stranger.address)
    assert told_parts() == [f"READY: {first}", f"READY: {second}"]
    tell_requests(now=clock.now() + timedelta(minutes=20))
    assert AlertBatch.objects.filter(golem=live.golem, source="pending-requests").count() == 2
    # The rest is the golem's, which does not make the whole of it done.
    assert asked.commit(asked.preview("vault_claim_in"))["status"] == "COMMITTED"
    confirm(live)
    follow()
    confirm(live)
    lost = follow()
    assert (lost.state, lost.last_error) == (RequestState.LOST, second) and EventType.REQUEST_DONE not in kinds()


def test_what_was_settled_and_taken_between_two_looks_is_told_though_more_was_asked_for_since(asked: Door) -> None:
    live = asked.stage.live
    assert follow().state == RequestState.REQUESTED
    settle(live.world)
    stranger = live.world.new_account(10**18)
    let_operate(live, stranger.address)
    live.world.transact(stranger, VAULT, CLAIM_IN_FOR, ASKED, stranger.address, live.golem.address)
    assert asked.commit(asked.preview("vault_ask_in"))["status"] == "COMMITTED"
    confirm(live)
    assert follow().state == RequestState.REQUESTED
    assert [each.partition(" base units")[0] for each in told_parts()] == [f"REQUESTED: {10_000 * 10**18}"]
