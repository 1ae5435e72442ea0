"""A preview tells the parameters it was planned with: what was left out is filled in, tokens with their addresses."""

from __future__ import annotations

from permits_app.models import ActionPermit
from tests.live_golem import LiveGolem


def test_what_an_agent_left_out_is_told_and_a_symbol_with_its_address(live_golem: LiveGolem) -> None:
    permit = live_golem.preview(amount="500000000")
    told = permit["expected_outcome"]["parameters"]
    tokens = live_golem.world.tokens
    assert told["token_in"] == {"address": tokens["USDC"].address, "symbol": "USDC", "decimals": 6}
    assert told["token_out"]["address"] == tokens["WETH"].address
    assert told["amount"] == "500000000"
    kept = ActionPermit.objects.get(pk=permit["permit_id"]).params
    assert told["slippage_bps"] == kept["slippage_bps"] == permit["expected_outcome"]["slippage_bps"]
    assert set(told) == {name for name, value in kept.items() if value is not None}


def test_a_token_named_by_address_is_told_with_its_symbol(live_golem: LiveGolem) -> None:
    address = live_golem.world.tokens["USDC"].address
    told = live_golem.preview(amount="400000000", token_in=address)["expected_outcome"]["parameters"]
    assert told["token_in"] == {"address": address, "symbol": "USDC", "decimals": 6}
