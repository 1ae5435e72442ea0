"""Where our own contracts stand in for a protocol, every page and answer that shows it says so: for each of the shelf,
as its own data says.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import ChangeRequest, HaltRecord, HaltSetting
from tests.catalogue.door import Door
from tests.catalogue.shelf import load_cases
from tools_app.core import clock
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.protocol import SHELF

SAID = "(simulated contract)"
CHAIN_ID = 31_337
CASES = load_cases()
SIMULATED = {each.name: each for each in SHELF if each.is_simulated(CHAIN_ID) and each.positions is not None}
"""Those of which something can be held; what the others are is told by their own reads and by what is permitted."""
OPENS = {"maker": "maker_generate_dai", "lido": "lido_stake_rebasing"}
"""Where another case than the first that opens a position is looked at."""


def opening(protocol: str) -> str:
    """The case that opens something there."""
    of_it = [name for name, filed in CASES.items() if filed.protocol == protocol]
    opens = [name for name in of_it if CASES[name].case.is_a is ActionClass.NEW_POSITION]
    return OPENS.get(protocol) or next(iter(opens or of_it))


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


@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in SIMULATED])
def test_a_protocol_that_ours_stand_in_for_is_called_simulated_wherever_it_shows(door: Door, name: str) -> None:
    protocol, case = SIMULATED[name], opening(name)
    label = protocol.label
    door.do(*CASES[case].case.after)
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
    assert f"{label} {SAID}" in read(client, f"/admin/archetypes_app/golem/{golem.pk}/money/")
    assert f"{label} {SAID}" in read(client, f"/admin/archetypes_app/golem/{golem.pk}/halt/")
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    told = halt_golem(golem=Golem.objects.get(pk=golem.pk), reason="leaves", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    record = HaltRecord.objects.get(golem=golem)
    # What only waits in orders is taken back as orders are, and is no position that was left.
    assert protocol.orders is not None or f"{label} {SAID}" in read(
        client, f"/admin/permits_app/haltrecord/{record.pk}/change/"
    )


def test_what_stands_in_is_told_by_the_shelf_itself() -> None:
    assert {"lido", "maker", "rocketpool", "pendle", "yearn", "curve", "ethena", "eigenlayer", "moonwell"} <= {
        *SIMULATED
    }
    assert all(each.simulated_on == {CHAIN_ID} for each in SIMULATED.values()), "no public chain holds ours"
