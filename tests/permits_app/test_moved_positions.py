"""A position is moved through the whole chain of a golem: hooks, permit, limits, commit, outcome."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import open_position
from tests.tools_app.protocols.uniswap.test_liquidity import trade_back_and_forth
from tools_app.core.errors import GolemError

NEAR = {"new_price_lower": "2850", "new_price_upper": "3142"}


def preview(live: LiveGolem, action_type: str, **params: Any) -> dict[str, Any]:
    return live.preview(action_type=action_type, venue="uniswap", token_in=None, token_out=None, amount=None, **params)


def test_a_golem_moves_its_position_and_no_spending_limit_counts_what_was_its_own(live_golem: LiveGolem) -> None:
    position_id = open_position(live_golem, live_golem.world, amount1="3000000000")
    permit = preview(live_golem, "rebalance_position", position_id=position_id, **NEAR)
    assert permit["action_class"] == "REBALANCE"
    assert permit["expected_outcome"]["most_spent"] == []
    done = live_golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    new_id = done["result"]["data"]["new_position_id"]
    assert new_id != position_id
    # A second one within the hour is one too many, and so is compounding.
    for action_type, params in (
        ("rebalance_position", {"new_price_lower": "2700", "new_price_upper": "3300"}),
        ("compound_fees", {}),
    ):
        if action_type == "compound_fees":
            trade_back_and_forth(live_golem.world, 500, usd=1_000_000)
        with pytest.raises(GolemError) as refused:
            preview(live_golem, action_type, position_id=new_id, **params)
        assert "rebalances are at least 3600 s apart" in str(refused.value.detail)


def test_a_golem_compounds_and_tends_in_a_batch(live_golem: LiveGolem) -> None:
    position_id = open_position(live_golem, live_golem.world, amount1="3000000000")
    trade_back_and_forth(live_golem.world, 500, usd=1_000_000)
    permit = preview(live_golem, "compound_fees", position_id=position_id)
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    operations = json.dumps([{"op_type": "remove", "position_id": position_id, "params": {"percent_to_remove": 50}}])
    permit = preview(live_golem, "batch_liquidity", operations=operations)
    assert permit["action_class"] == "DECREASE_POSITION"
    done = live_golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED"
