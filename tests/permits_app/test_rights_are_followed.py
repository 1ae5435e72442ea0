"""Rights over others' money are followed: what is taken back is seen, told and used no more; a halt gives them up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem
from permits_app import tasks
from permits_app.actions.check_received_rights import check_received_rights
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.received_rights import LOOK_EVERY, MAY_COME_BACK
from permits_app.models import ActionPermit, ChainWatch, HaltRecord, ReceivedRight
from permits_app.models.permit import PermitStatus
from tests.evm.world import CHAIN_ID
from tests.factories import make_owner
from tests.made_up_purse.on_the_shelf import DAY, Purse
from tests.permits_app.test_others_money import A_DAY, USD, Manager, hire
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent


@pytest.fixture
def manager(transactional_db: None, purse: Purse) -> Iterator[Manager]:
    yield hire(purse)


def look(after: timedelta = timedelta()) -> dict[str, int]:
    """The sweep, as if so much time had gone by."""
    return check_received_rights(now=clock.now() + after)


def events(right: ReceivedRight) -> list[str]:
    """What was told of it."""
    found = OutboxEvent.objects.filter(golem_id=right.golem_id, type__startswith="right:")
    return list(found.order_by("sequence").values_list("type", flat=True))


def page(manager: Manager, path: str) -> str:
    """A page as the golem's owner sees it."""
    owner = manager.live.owner
    owner.is_superuser = owner.is_staff = True
    owner.save()
    client = Client()
    client.force_login(owner)
    return client.get(path).content.decode()


def test_a_right_that_its_principal_takes_back_is_seen_told_and_used_no_more(manager: Manager, purse: Purse) -> None:
    # On a loaded machine a minute may go by before the commit: it is the right that ends here, and not the permit.
    manager.live.golem.permit_ttl_seconds = 3_600
    manager.live.golem.save(update_fields=["permit_ttl_seconds"])
    right = purse.give(manager.live, a_day=A_DAY)
    permit = manager.preview(60 * USD)
    assert look() == {"looked": 1, "gone": 0}
    purse.take_back(manager.live)
    assert look(LOOK_EVERY) == {"looked": 1, "gone": 1}
    right.refresh_from_db()
    assert (right.state, right.state_reason) == ("WITHDRAWN", "the purse says it was taken back")
    assert events(right) == ["right:withdrawn"]
    assert AuditEntry.objects.filter(golem_id=right.golem_id, event="RightWithdrawn").count() == 1
    had, nonce = purse.balance(purse.principal.address), manager.live.mined_nonce()
    manager.live.start(permit["permit_id"])
    manager.live.work(permit["permit_id"])
    ended = ActionPermit.objects.get(pk=permit["permit_id"])
    assert ended.status not in (PermitStatus.COMMITTED, PermitStatus.UNKNOWN) and "right" in ended.status_reason
    assert (purse.balance(purse.principal.address), manager.live.mined_nonce()) == (had, nonce)


def test_a_withdrawal_that_leaves_the_chain_again_is_taken_back_and_told(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    snapshot = purse.world.rpc.call("evm_snapshot")
    purse.take_back(manager.live)
    look()
    purse.world.rpc.call("evm_revert", snapshot)
    purse.world.rpc.call("anvil_dropAllTransactions")
    look(LOOK_EVERY)
    right.refresh_from_db()
    assert (right.state, right.state_at, right.available) == ("STANDING", None, A_DAY)
    assert events(right) == ["right:withdrawn", "right:restored"]
    assert manager.preview(60 * USD)["status"] == PermitStatus.CREATED


def test_what_was_withdrawn_for_an_hour_is_looked_at_no_more_and_stands_again_when_it_is_brought_in(
    manager: Manager, purse: Purse
) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    purse.take_back(manager.live)
    look()
    right.refresh_from_db()
    gone = right.state_at
    assert gone is not None
    assert check_received_rights(now=gone + timedelta(hours=1) - timedelta(microseconds=1))["looked"] == 1
    right.refresh_from_db()
    assert right.next_look_at is not None, "a moment before its hour is over"
    ReceivedRight.objects.update(next_look_at=gone)
    assert check_received_rights(now=gone + timedelta(hours=1))["looked"] == 1
    right.refresh_from_db()
    assert right.next_look_at is None
    assert look(MAY_COME_BACK * 2)["looked"] == 0
    assert purse.give(manager.live, a_day=A_DAY).pk == right.pk
    right.refresh_from_db()
    assert right.state == "STANDING" and look(MAY_COME_BACK * 2)["looked"] == 1
    assert AuditEntry.objects.filter(golem_id=right.golem_id, event="RightReceived").count() == 2


def test_a_right_ends_with_its_time_by_the_chains_clock(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY, days=1)
    look()
    purse.world.rpc.call("evm_increaseTime", DAY)
    purse.world.rpc.call("evm_mine")
    look(LOOK_EVERY)
    right.refresh_from_db()
    assert (right.state, right.next_look_at, events(right)) == ("ENDED", None, ["right:ended"])


def test_pages_show_what_is_left_now_and_when_its_contract_was_asked(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    golem, of_right = (
        f"/admin/archetypes_app/golem/{right.golem_id}/money/",
        f"/admin/permits_app/receivedright/{right.pk}/change/",
    )
    assert "not looked at yet" in page(manager, golem)
    manager.live.commit(manager.preview(60 * USD)["permit_id"])
    look()
    for path in (golem, of_right):
        assert "40 USDC" in page(manager, path), path
    purse.take_back(manager.live)
    look(LOOK_EVERY)
    assert "Rights received" not in page(manager, golem)
    assert "the purse says it was taken back" in page(manager, of_right)


def test_a_contract_that_does_not_answer_ends_no_right_and_the_page_says_so(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    code = purse.world.rpc.call("eth_getCode", purse.address, "latest")
    purse.world.rpc.call("anvil_setCode", purse.address, "0x60006000fd")
    assert look() == {"looked": 1, "gone": 0}
    right.refresh_from_db()
    assert right.state == "STANDING" and "the purse does not answer" in right.last_error
    assert "the purse does not answer" in page(manager, f"/admin/archetypes_app/golem/{right.golem_id}/money/")
    purse.world.rpc.call("anvil_setCode", purse.address, code)
    look(LOOK_EVERY)
    right.refresh_from_db()
    assert right.last_error == "" and right.available == A_DAY


def test_a_chain_that_is_silent_is_not_asked(manager: Manager, purse: Purse) -> None:
    purse.give(manager.live, a_day=A_DAY)
    now = clock.now()
    ChainWatch.objects.update_or_create(
        chain_id=CHAIN_ID,
        defaults={"looked_at": now, "failing_since": now - timedelta(hours=1), "error_code": "RPC_TIMEOUT"},
    )
    assert look()["looked"] == 0


def test_two_owners_hear_of_their_own_rights_alone(manager: Manager, purse: Purse) -> None:
    other = hire(purse, "Other", "owner-b")
    mine, theirs = purse.give(manager.live, a_day=A_DAY), purse.give(other.live, a_day=A_DAY)
    purse.take_back(manager.live)
    assert look() == {"looked": 2, "gone": 1}
    assert (events(mine), events(theirs)) == (["right:withdrawn"], [])
    client = Client()
    client.force_login(make_owner(name="stranger"))
    assert client.get(f"/admin/permits_app/receivedright/{mine.pk}/change/").status_code in (302, 403, 404)


def test_a_golem_without_rights_costs_the_sweep_no_question(manager: Manager, purse: Purse) -> None:
    look()
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert tasks.follow_rights_task() == {"looked": 0, "gone": 0}
    assert len(captured) <= 3


def halted(manager: Manager) -> list[dict[str, Any]]:
    """The steps of a halt that was carried out."""
    golem = Golem.objects.get(pk=manager.live.golem.pk)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    assert told["on_chain"]
    return carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())


def test_a_halt_gives_up_the_rights_that_its_golem_can_give_up(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    permit = manager.preview(60 * USD)
    steps = halted(manager)
    [step] = [each for each in steps if each["step"] == "rights received given up"]
    assert step.get("received", [{}])[0].get("outcome") == "COMMITTED", step
    right.refresh_from_db()
    assert (right.state, right.next_look_at) == ("DROPPED", None)
    left = purse.world.rpc.read(
        purse.address,
        "left(address,address,address)",
        purse.principal.address,
        manager.live.golem.address,
        right.token,
        returns="(uint256,uint256)",
    )
    assert tuple(left) == (0, 0), "on the chain too"
    assert HaltRecord.objects.get(golem=manager.live.golem).completed_at is not None
    assert ActionPermit.objects.get(pk=permit["permit_id"]).status == PermitStatus.CANCELLED
    assert look(LOOK_EVERY)["looked"] == 0


def test_a_halt_says_who_must_end_a_right_that_its_golem_cannot_give_up(
    manager: Manager, purse: Purse, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    rights = purse.modules["received"].PurseRights
    monkeypatch.delattr(rights, "give_up")
    monkeypatch.setattr(rights, "say_end", lambda self, right: "In the purse: takeBack.", raising=False)
    [step] = [each for each in halted(manager) if each["step"] == "rights received given up"]
    [told] = step["received"]
    assert (told["outcome"], told["who"], told["how"]) == (
        "ITS_GIVER_MUST",
        purse.principal.address,
        "In the purse: takeBack.",
    )
    right.refresh_from_db()
    assert right.state == "STANDING" and HaltRecord.objects.get(golem=manager.live.golem).completed_at is not None


def test_a_halted_golem_gives_up_nothing_but_what_is_in_its_own_book(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    other = hire(purse, "Other", "owner-b")
    halted_steps = halt_golem(golem=other.live.golem, reason="x", actor="user:owner", now=clock.now())
    assert not halted_steps["on_chain"], "it has no right"
    right.refresh_from_db()
    assert right.state == "STANDING"


def test_a_drill_of_a_halt_names_rights_and_gives_up_none(manager: Manager, purse: Purse) -> None:
    right = purse.give(manager.live, a_day=A_DAY)
    told = halt_golem(golem=manager.live.golem, reason="x", actor="user:owner", now=clock.now(), is_drill=True)
    assert purse.principal.address in str(told["steps"])
    right.refresh_from_db()
    assert right.state == "STANDING"
