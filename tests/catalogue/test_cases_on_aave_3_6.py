"""The cases of Aave, and of what works with any lender, on the version that public chains run, and a halt out of it."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import ActionPermit, HaltRecord, HaltSetting
from tests.catalogue.door import Door
from tests.catalogue.proofs import find_wrong
from tests.catalogue.shelf import ACROSS, CHAIN_ID, load_cases
from tests.catalogue.stage import call_refused, open_stage
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.protocols.aave_v3 import addresses
from tools_app.toolkit.protocol import SHELF

CASES = load_cases()
HERE = {name: filed for name, filed in CASES.items() if filed.protocol == ACROSS}
STABLE = "aave_borrow_stable"
"""This version lends at no stable rate."""
pytestmark = pytest.mark.protocols("aave_v3_6")


@pytest.fixture(autouse=True)
def version_3_6(chain: World, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Aave's one address book names the market of this version."""
    there = chain.protocols["aave_v3_6"]
    assert there != addresses.deployments(CHAIN_ID)
    monkeypatch.setitem(addresses._DEPLOYED, CHAIN_ID, there)
    # What was worked out from the addresses before is worked out anew.
    SHELF.version += 1
    yield
    SHELF.version += 1


@pytest.mark.parametrize("name", [name for name in HERE if name != STABLE])
def test_a_case_is_true_in_every_way(name: str, live_golem: LiveGolem) -> None:
    stage, case = open_stage(live_golem, CASES), CASES[name].case
    stage.prepare(case)
    if case.refused:
        error = call_refused(stage, case)
        assert error is not None and error.code == case.refused
        return
    assert not (wrong := find_wrong(stage, case)), "\n".join(wrong)


def test_a_stable_rate_is_refused_where_there_is_none(live_golem: LiveGolem) -> None:
    stage, case = open_stage(live_golem, CASES), CASES[STABLE].case
    stage.prepare(case)
    error = call_refused(stage, case)
    assert error is not None and error.code == "MARKET_CLOSED"


def test_a_loan_is_previewed_approved_and_sent_and_a_halt_leaves_it(door: Door) -> None:
    pool = addresses._DEPLOYED[CHAIN_ID]["pool"]
    supplied = door.preview("aave_supply")
    assert door.commit(supplied)["status"] == "COMMITTED"
    loan = door.preview("aave_borrow")
    assert loan["status"] == "AWAITING_APPROVAL" and door.commit(loan)["status"] == "COMMITTED"
    sent = ActionPermit.objects.get(pk=loan["permit_id"])
    assert [call["to"] for call in sent.plan_calls] == [pool]
    (position,) = door.stage.positions()
    assert position.health_bps is not None and position.health_bps > 30_000
    golem = door.stage.live.golem
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    halt_golem(golem=golem, reason="drained", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=1, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None
    (left,) = ActionPermit.objects.filter(action_type="unwind_position")
    assert left.status == "COMMITTED" and pool in {call["to"] for call in left.plan_calls}
    assert door.stage.positions() == ()
