"""No other spelling of an action passes one that is under way, or the loop guard."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.errors import ActionRepeated, SameActionPending
from permits_app.permits.equal_actions import hash_meant, resolve_params
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tools_app import runner
from tools_app.toolkit.registry import REGISTRY


def _spellings(live: LiveGolem) -> list[dict[str, Any]]:
    usdc, weth = (live.world.tokens[symbol].address for symbol in ("USDC", "WETH"))
    return [
        {},
        {"token_in": usdc},
        {"token_in": usdc.lower(), "token_out": weth},
        {"token_in": "usdc", "chain_id": CHAIN_ID},
        {"token_out": "weth", "amount": "00500000000"},
    ]


@pytest.mark.parametrize("spelling", range(5))
def test_no_respelling_passes_an_action_that_is_under_way(live_golem: LiveGolem, spelling: int) -> None:
    live_golem.start(live_golem.preview()["permit_id"])
    with pytest.raises(SameActionPending):
        live_golem.preview(**_spellings(live_golem)[spelling])


def test_the_loop_guard_counts_one_swap_however_it_is_spelt(live_golem: LiveGolem) -> None:
    spellings = _spellings(live_golem)
    for spelling in spellings[1:]:
        live_golem.preview(**spelling)
    with pytest.raises(ActionRepeated):
        live_golem.preview()


def test_another_amount_or_another_token_is_another_action(live_golem: LiveGolem) -> None:
    live_golem.start(live_golem.preview()["permit_id"])
    assert live_golem.preview(amount="400000000")["status"] == "CREATED"
    assert live_golem.preview(token_out="DAI")["status"] == "CREATED"


def test_every_spelling_means_the_same_parameters(live_golem: LiveGolem) -> None:
    golem, tool = Golem.objects.get(pk=live_golem.golem.pk), REGISTRY.get("uniswap_execute_swap")
    swap = {"token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
    checked = [runner.check_params(tool=tool, params={**swap, **each}) for each in _spellings(live_golem)]
    assert len({hash_meant(golem=golem, tool=tool, params=each) for each in checked}) == 1
    strange = runner.check_params(tool=tool, params={**swap, "token_in": "NOSUCH"})
    assert resolve_params(tool, strange, golem)["token_in"] == "NOSUCH"
