"""Where our own contracts stand in for Maker, Lido or Rocket Pool, every page and answer that shows them says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import ChangeRequest, HaltRecord, HaltSetting
from tests.catalogue.door import Door
from tools_app.core import clock

SAID = "(simulated contract)"
OF_EACH: dict[str, tuple[tuple[str, ...], str, str]] = {
    # The case that opens something, those before it, and what people call the protocol.
    "maker": (("maker_deposit_collateral",), "maker_generate_dai", "Maker"),
    "lido": ((), "lido_stake_rebasing", "Lido"),
    "rocketpool": ((), "rocketpool_stake", "Rocket Pool"),
}


def open_pages(door: Door) -> Client:
    client = Client()
    door.stage.live.owner.is_superuser = True
    door.stage.live.owner.is_staff = True
    door.stage.live.owner.save()
    client.force_login(door.stage.live.owner)
    return client


def read(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return response.content.decode()


def find_marks(answer: Any) -> list[bool]:
    """Every `is_simulated` of an answer, however deep."""
    if isinstance(answer, dict):
        mine = [answer["is_simulated"]] if "is_simulated" in answer else []
        return mine + [mark for each in answer.values() for mark in find_marks(each)]
    if isinstance(answer, list):
        return [mark for each in answer for mark in find_marks(each)]
    return []


@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in OF_EACH])
def test_a_protocol_that_ours_stand_in_for_is_called_simulated_wherever_it_shows(door: Door, name: str) -> None:
    before, case, label = OF_EACH[name]
    door.do(*before)
    client, golem = open_pages(door), door.stage.live.golem
    permit = door.preview(case)
    assert permit["http"] == 200, permit
    assert True in find_marks(permit), "the preview"
    if permit["status"] == "AWAITING_APPROVAL":
        request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
        assert SAID in read(client, f"/admin/permits_app/changerequest/{request.pk}/change/")
    ended = door.commit(permit)
    assert ended["status"] == "COMMITTED", ended
    assert True in find_marks(ended), "the permit"
    assert SAID in read(client, f"/admin/permits_app/actionpermit/{permit['permit_id']}/change/")
    status = door.agent.post("query_state", {"query": "wallet_status"}).json()
    assert True in find_marks(status), "wallet_status"
    assert f"{label} {SAID}" in read(client, f"/admin/archetypes_app/golem/{golem.pk}/change/")
    assert f"{label} {SAID}" in read(client, f"/admin/archetypes_app/golem/{golem.pk}/halt/")
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    told = halt_golem(golem=Golem.objects.get(pk=golem.pk), reason="leaves", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    record = HaltRecord.objects.get(golem=golem)
    assert f"{label} {SAID}" in read(client, f"/admin/permits_app/haltrecord/{record.pk}/change/")
