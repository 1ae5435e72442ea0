"""Every token that does other than it says is refused with a code, or its outcome is true: balances decide."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import AllowlistChoice, suggest_allowlist
from permits_app.models.allowlist import AllowlistKind
from tests.adversary.token_zoo import ACTIONS, PAYEE, Cell, Zoo, list_cells
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tools_app.core import clock

# The bar holds the token too: what is asked about it is asked about a position.
pytestmark = pytest.mark.protocols("aave_v3", "sushi_bar")
IS_WHOLE = os.environ.get("GOLEM_TOKEN_ZOO") == "whole"


@pytest.fixture
def zoo(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> Zoo:
    payee = AllowlistChoice(CHAIN_ID, AllowlistKind.RECIPIENT, PAYEE, "payee")
    choices = [payee, *suggest_allowlist(CHAIN_ID)]
    allow_addresses(golem=live_golem.golem, choices=choices, actor="system:test", now=clock.now())
    ToolOverride.objects.create(golem=live_golem.golem, tool_name="aave_supply", mode=OverrideMode.INCLUDE)
    return Zoo(live_golem, monkeypatch.setattr)


# Each cell is a transaction that is rolled back whole, with all the product's own inside it.
@pytest.mark.locks_at_will
@pytest.mark.timeout(900 if IS_WHOLE else 180)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_token_that_lies_is_refused_or_its_outcome_is_true(zoo: Zoo, action: str) -> None:
    came = {cell: zoo.play(cell) for cell in list_cells(action=action, whole=IS_WHOLE)}
    lies = [f"{cell.mood}, {cell.moment}: {what}" for cell, what in came.items() if what.startswith("wrong")]
    assert not lies, "\n".join(lies)
    told = Counter(what.split()[0] for what in came.values())
    assert told["refused"] and told["committed"], came


# What must come of some of them, so that the table is not kept by refusing or doubting everything.
TOLD = {
    Cell("is honest", "from the start", "send"): "committed verified",
    Cell("is honest", "only when mined", "sell"): "committed verified",
    Cell("keeps 3%", "from the start", "send"): "refused SAFETY_SIMULATION_FAILED",
    Cell("keeps 3%", "only when mined", "send"): "committed unverified",
    Cell("returns false and moves nothing", "from the start", "send"): "refused SAFETY_SIMULATION_FAILED",
    Cell("returns false and moves nothing", "only when mined", "send"): "committed unverified",
    Cell("only says that it moves", "only when mined", "send"): "committed unverified",
    Cell("emits 4,000 bytes of data", "only when mined", "buy"): "committed unverified",
    Cell("emits dirty topics", "from the start", "send"): "committed unverified",
    Cell("emits a gift of 2^256-1", "only when mined", "buy"): "committed unverified",
    Cell("drains whoever sends it", "only when mined", "send"): "committed unverified",
    Cell("has no code", "only when mined", "send"): "committed unverified",
    Cell("is honest", "from the start", "supply"): "committed verified",
    Cell("returns false and moves nothing", "from the start", "supply"): "refused SAFETY_SIMULATION_FAILED",
    Cell("only says that it moves", "only when mined", "supply"): "committed unverified",
    Cell("takes twice as much", "after the preview", "supply"): "blocked SAFETY_SIMULATION_FAILED",
}


@pytest.mark.locks_at_will
def test_what_does_not_arrive_is_refused_beforehand_or_told_afterwards(zoo: Zoo) -> None:
    assert {cell: zoo.play(cell) for cell in TOLD} == TOLD
