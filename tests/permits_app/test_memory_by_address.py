"""What a golem learned of two tokens reaches its previews, whether a token is named by its symbol or its address."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from archetypes_app.models import Golem
from memory_app.actions.consolidate import consolidate
from memory_app.models import Episode
from permits_app.actions.remember_outcome import remember_outcome
from tests.live_golem import LiveGolem
from tests.memory_app.factories import remember
from tools_app.core import clock

GOOD: dict[str, Any] = {"prediction": {"amount_out": "1000"}, "outcome": {"amount_out": "1000", "succeeded": True}}


@pytest.fixture
def learned(live_golem: LiveGolem) -> LiveGolem:
    """A golem whose five swaps of USDC to WETH went as predicted."""
    for number in range(5):
        remember(live_golem.golem, f"swap {number}", permit_id=uuid.uuid4(), **GOOD)
    assert consolidate(golem_id=live_golem.golem.pk, now=clock.now()).heuristics_tuned == 1
    return live_golem


def _changes(live: LiveGolem, **changes: Any) -> dict[str, Any]:
    permit = live.permit(live.preview(**changes)["permit_id"])
    found: dict[str, Any] = permit.soft_params["changes"]
    return found


def test_a_swap_by_address_gets_what_was_learned_by_symbol(learned: LiveGolem) -> None:
    usdc, weth = (learned.world.tokens[symbol].address for symbol in ("USDC", "WETH"))
    by_symbol = _changes(learned)
    assert by_symbol == {"slippage_bps": 45}
    assert _changes(learned, token_in=usdc, token_out=weth.lower(), amount="400000000") == by_symbol
    assert _changes(learned, token_in="usdc", token_out=weth, amount="300000000") == by_symbol
    assert _changes(learned, token_out="DAI") == {}


def test_a_real_swap_by_address_is_remembered_under_the_same_key(live_golem: LiveGolem) -> None:
    usdc, weth = (live_golem.world.tokens[symbol].address for symbol in ("USDC", "WETH"))
    permit_id = live_golem.preview(token_in=usdc, token_out=weth)["permit_id"]
    live_golem.commit(permit_id)
    assert remember_outcome(permit_id=uuid.UUID(permit_id), now=clock.now(), use_model=False) is not None
    assert Episode.objects.get(permit_id=permit_id).token_keys == ["usdc", "weth"]


def test_a_golem_whose_memory_is_off_gets_nothing_of_it(learned: LiveGolem) -> None:
    Golem.objects.filter(pk=learned.golem.pk).update(is_memory_enabled=False)
    assert _changes(learned) == {}
