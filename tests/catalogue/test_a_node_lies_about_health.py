"""A node that lies about health: at no lender does a debt grow or cover leave on its word, before the preview or at the
commit.

The plan reads the account, hook 5 measures it in the node's simulation, and what raises a debt or takes cover away is
run in this process too. A node that lives in another state altogether, or in the past, is found out by a second node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.conf import settings as configured

from golem_project import wiring
from permits_app.models import ActionPermit, HighWaterMark, OutcomeRecord
from permits_app.permits.plan_store import decode_calls
from permits_app.safety.health_between_calls import least_on_the_way
from tests.catalogue.door import CASES, Door
from tests.catalogue.lenders_lied_about import LENDERS, Ask, Lender
from tests.catalogue.lies_about_health import (
    ALL_BUT_PRICES,
    READS,
    SIMULATION,
    TOGETHER,
    Told,
    live_elsewhere,
    stand_still,
    tell,
)
from tests.catalogue.stage import USD
from tests.evm.world import CHAIN_ID, World
from tests.proof.lying_node import LyingNode
from tools_app.protocols.aave_v3 import addresses
from tools_app.toolkit.enums import LEAVING, ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF

EVERYWHERE = (READS, SIMULATION)
TOLD_IN = ((READS,), (SIMULATION,), EVERYWHERE)
REFUSALS = {"HEALTH_TOO_LOW", "SIMULATION_DISAGREES", "PRICES_DISAGREE"}
NOT_TAKEN = REFUSALS | {
    "LEVERAGE_OUT_OF_REACH",
    "LENDING_NOTHING_THERE",
    "INVALID_PARAMS",
    "SAFETY_SIMULATION_FAILED",
    "POLICY_REJECTED",
}
"""Why a plan is not made or not let through that a lie made look needless, too large, or other than what happens."""
OTHER_VERSION = "Aave 3.6"
"""Its account and its debts are read by the same lines: it stands for what the pool itself does otherwise."""
WORLDS = {name: pytest.param(name, marks=pytest.mark.protocols(lender.world)) for name, lender in LENDERS.items()}
ONCE = [world for name, world in WORLDS.items() if name != OTHER_VERSION]


@pytest.fixture(autouse=True)
def version_3_6(chain: World, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where that version is asked for, Aave's one address book names its market."""
    lender = LENDERS[request.getfixturevalue("name")]
    if lender.world == "aave_v3_6":
        monkeypatch.setitem(addresses._DEPLOYED, CHAIN_ID, chain.protocols["aave_v3_6"])
        SHELF.version += 1
    yield
    SHELF.version += lender.world == "aave_v3_6"


@pytest.mark.parametrize("name", WORLDS.values())
def test_no_debt_grows_and_no_cover_leaves_on_the_word_of_a_node(lying_node: LyingNode, door: Door, name: str) -> None:
    lender = LENDERS[name]
    open_loan(door, lender)
    passed, heard = [], set()
    for about, changes in lender.lies(door.stage).items():
        for ask in lender.risky:
            for methods in TOLD_IN if about == TOGETHER else (TOLD_IN[0], EVERYWHERE):
                told = Told(set())
                with lying_node.lying(tell(changes, methods, told)):
                    problem = preview(door, ask)
                heard |= told.methods
                if problem.get("code") not in REFUSALS | lender.refusals or not problem["recovery"]:
                    passed.append((about, ask, methods, problem))
    assert passed == []
    assert heard == set(EVERYWHERE), "nothing was lied about"
    assert not ActionPermit.objects.exists()


@pytest.mark.parametrize("name", ONCE)
def test_no_way_out_and_no_loop_passes_through_danger_on_the_word_of_a_node(
    lying_node: LyingNode, door: Door, name: str
) -> None:
    lender = LENDERS[name]
    open_loan(door, lender)
    passed, permits = [], []
    for about, changes in lender.lies(door.stage).items():
        for ask in (*lender.out, *lender.further) if about == ALL_BUT_PRICES else lender.out:
            with lying_node.lying(tell(changes, EVERYWHERE, Told(set()))):
                answer = preview(door, ask)
            if answer["http"] == 200:
                permits.append((about, ask, answer))
                # What one permit may take out, the next may not.
                door.post("cancel_action", {"permit_id": answer["permit_id"], "reason": "looked at"})
            elif answer["code"] not in NOT_TAKEN | lender.refusals or not answer["recovery"]:
                passed.append((about, ask, answer))
    assert passed == []
    assert [(about, ask, down) for about, ask, permit in permits if (down := list_steps_down(door, permit))] == []


@pytest.mark.parametrize("name", ONCE)
def test_what_is_not_covered_any_more_is_not_signed_on_the_word_of_a_node(
    lying_node: LyingNode, door: Door, name: str
) -> None:
    lender = LENDERS[name]
    open_loan(door, lender)
    lies = lender.lies(door.stage)
    asked = [(lender.fits[0], TOLD_IN[0]), (lender.fits[-1], TOLD_IN[1]), *((each, EVERYWHERE) for each in lender.fits)]
    waiting = []
    for index, ((case, params), methods) in enumerate(asked):
        # Each of another amount: the same once more is the same permit.
        other = {key: str(int(value) + index) for key, value in params.items()}
        waiting.append((case, methods, preview(door, (case, other))))
    assert [permit["http"] for _, _, permit in waiting] == [200] * len(waiting), waiting
    # Each of them would stand on less than the floor now.
    lender.falls(door.stage.world)
    heard, passed = set(), []
    for case, methods, permit in waiting:
        told = Told(set())
        HighWaterMark.objects.all().delete()
        with lying_node.lying(tell(lies[TOGETHER], methods, told)):
            ended = door.commit(permit)
        heard |= told.methods
        if ended["status"] != "BLOCKED":
            passed.append((case, methods, ended))
    assert passed == []
    assert heard == set(EVERYWHERE), "nothing was lied about"
    assert not OutcomeRecord.objects.exists()


@pytest.mark.parametrize("name", WORLDS.values())
def test_a_node_of_another_state_is_found_out_by_a_second_node(
    lying_node: LyingNode, door: Door, settings: Any, name: str
) -> None:
    lender = LENDERS[name]
    open_loan(door, lender)
    elsewhere = lender.elsewhere(door.stage)
    give_a_second_node(lying_node, door, settings)
    for ask in lender.risky:
        with lying_node.lying(live_elsewhere(*elsewhere)):
            problem = preview(door, ask)
        assert problem.get("code") == "SIMULATION_DISAGREES", (ask, problem)
    assert not ActionPermit.objects.exists()


@pytest.mark.protocols("aave_v3")
@pytest.mark.parametrize("name", ["Aave"])
def test_a_node_whose_head_stands_still_is_found_out_by_a_second_node(
    lying_node: LyingNode, door: Door, settings: Any, name: str
) -> None:
    lender = LENDERS[name]
    open_loan(door, lender)
    then = door.stage.world.rpc.call("eth_getBlockByNumber", "latest", False)
    door.stage.world.rpc.call("evm_increaseTime", 300)
    lender.falls(door.stage.world)
    give_a_second_node(lying_node, door, settings)
    for ask in lender.fits:
        with lying_node.lying(stand_still(then)):
            problem = preview(door, ask)
        assert (problem.get("code"), problem.get("recovery")) == ("RPC_LAGGING", "WAIT"), (ask, problem)
    assert not ActionPermit.objects.exists()


@pytest.mark.protocols("aave_v3")
@pytest.mark.parametrize("name", ["Aave"])
def test_a_node_of_another_state_that_stands_alone_is_believed_as_far_as_the_pool_itself_lets_it(
    lying_node: LyingNode, door: Door, name: str
) -> None:
    """Nothing in one node's answers contradicts another of them; who wants more gives the chain a second node."""
    lender = LENDERS[name]
    open_loan(door, lender)
    with lying_node.lying(live_elsewhere(*lender.elsewhere(door.stage))):
        permit = preview(door, ("aave_borrow", {"amount": str(12_000 * USD)}))
        ended = door.commit(permit)
    # More than Aave lends on what is really there reverts where it is mined.
    assert ended["status"] == "REVERTED", ended
    assert not any(row.is_verified for row in OutcomeRecord.objects.all())


def open_loan(door: Door, lender: Lender) -> None:
    for case, params in lender.opens:
        plan = door.stage.call(CASES[case].case, **params).plan
        assert plan is not None
        door.stage.note(CASES[case].case, door.stage.carry_out(plan))


def give_a_second_node(lying_node: LyingNode, door: Door, settings: Any) -> None:
    settings.GOLEM_RPC_URLS = {CHAIN_ID: (lying_node.url, door.stage.world.rpc_url)}
    wiring.configure_networks(settings.GOLEM_RPC_URLS)


def preview(door: Door, ask: Ask) -> dict[str, Any]:
    case, params = ask
    # What a lie counted once would stand as a fall of what is held, and be refused as that.
    HighWaterMark.objects.all().delete()
    return door.preview(case, **params)


def list_steps_down(door: Door, permit: dict[str, Any]) -> Iterable[tuple[str, int, int]]:
    """A permit's calls mined one by one on the real chain: where a debt stands on less than it may, and what it may."""
    down = []
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    is_raising = ActionClass(row.action_class) not in LEAVING
    with door.stage.apart():
        before = find_health(door)
        for call in decode_calls(row.plan_calls):
            try:
                door.stage.send(TxPlan(chain_id=CHAIN_ID, calls=(call,)))
            except AssertionError:
                break
            least = least_on_the_way(before_bps=before, floor_bps=15_000, is_raising=is_raising)
            if (now := find_health(door)) is not None and now < least:
                down.append((call.label, now, least))
    # A reader of ours led the product past the lying node.
    wiring.configure_networks(configured.GOLEM_RPC_URLS)
    return down


def find_health(door: Door) -> int | None:
    return min((each.health_bps for each in door.stage.positions() if each.health_bps is not None), default=None)
