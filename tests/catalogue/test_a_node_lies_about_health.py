"""A node that lies about health: no debt grows and no cover leaves on its word, before the preview or at the commit.

The plan reads the account, hook 5 measures it in the node's simulation, and what raises a debt or takes cover away is
run in this process too. A node that lives in another state altogether is found out by a second node.
"""

from __future__ import annotations

from typing import Any

import pytest

from golem_project import wiring
from permits_app.models import ActionPermit, OutcomeRecord
from tests.catalogue.door import Door
from tests.catalogue.lies_about_health import (
    FOLD,
    READS,
    SIMULATION,
    Told,
    find_receipt_slot,
    list_lies,
    live_elsewhere,
    tell,
)
from tests.catalogue.test_adversaries import MORE, USD, set_feed
from tests.evm.world import CHAIN_ID
from tests.proof.lying_node import LyingNode

LIES = (
    "the health factor",
    "health and what may be borrowed",
    "balances of receipts",
    "balances of debts",
    "prices",
    "all but prices",
    "all of it together",
)
TOLD_IN = ((READS,), (SIMULATION,), (READS, SIMULATION))
REFUSALS = {"HEALTH_TOO_LOW", "SIMULATION_DISAGREES"}
ASKED: dict[str, dict[str, Any]] = {
    # Beside 3,000 USDC of debt under four WETH; 6,600 are the floor.
    "aave_borrow": {"amount": str(4_500 * USD)},
    "aave_withdraw": {"amount": str(MORE)},
}

pytestmark = pytest.mark.protocols("aave_v3")


@pytest.mark.parametrize("about", LIES)
def test_no_debt_grows_and_no_cover_leaves_on_the_word_of_a_node(lying_node: LyingNode, door: Door, about: str) -> None:
    door.do("aave_borrow")
    changes = list_lies(door.stage)[about]
    passed, heard = [], set()
    for case, params in ASKED.items():
        for methods in TOLD_IN:
            told = Told(set())
            with lying_node.lying(tell(changes, methods, told)):
                problem = door.preview(case, **params)
            heard |= told.methods
            if problem.get("code") not in REFUSALS:
                passed.append((case, methods, problem))
    assert passed == []
    assert READS in heard, "nothing was lied about"
    assert not ActionPermit.objects.exists()


@pytest.mark.parametrize(
    ("about", "methods"), [*((about, TOLD_IN[2]) for about in LIES), *((LIES[-1], methods) for methods in TOLD_IN[:2])]
)
def test_what_is_not_covered_any_more_is_not_signed_on_the_word_of_a_node(
    lying_node: LyingNode, door: Door, about: str, methods: tuple[str, ...]
) -> None:
    door.do("aave_supply")
    changes = list_lies(door.stage)[about]
    permit = door.preview("aave_borrow", amount=str(6_500 * USD))
    assert permit["http"] == 200, permit
    # The loan would stand on a health of 1.47, and the floor is 1.50.
    set_feed("WETH", 2_900)(door)
    told = Told(set())
    with lying_node.lying(tell(changes, methods, told)):
        ended = door.commit(permit)
    assert told.methods, "nothing was lied about"
    assert ended["status"] == "BLOCKED", ended
    assert not OutcomeRecord.objects.exists()


def test_a_node_of_another_state_is_found_out_by_a_second_node(
    lying_node: LyingNode, door: Door, settings: Any
) -> None:
    door.do("aave_borrow")
    receipt, slot, word = find_receipt_slot(door.stage, "WETH")
    held = word % 2**128
    settings.GOLEM_RPC_URLS = {CHAIN_ID: (lying_node.url, door.stage.world.rpc_url)}
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    for case, params in ASKED.items():
        with lying_node.lying(live_elsewhere(receipt, slot, word - held + FOLD * held)):
            problem = door.preview(case, **params)
        assert problem.get("code") == "SIMULATION_DISAGREES", (case, problem)
    assert not ActionPermit.objects.exists()


def test_a_node_of_another_state_that_stands_alone_is_believed_as_far_as_the_pool_itself_lets_it(
    lying_node: LyingNode, door: Door
) -> None:
    """Nothing in one node's answers contradicts another of them; who wants more gives the chain a second node."""
    door.do("aave_borrow")
    receipt, slot, word = find_receipt_slot(door.stage, "WETH")
    held = word % 2**128
    with lying_node.lying(live_elsewhere(receipt, slot, word - held + FOLD * held)):
        permit = door.preview("aave_borrow", amount=str(12_000 * USD))
        ended = door.commit(permit)
    # More than Aave lends on what is really there reverts where it is mined.
    assert ended["status"] == "REVERTED", ended
    assert not any(row.is_verified for row in OutcomeRecord.objects.all())
