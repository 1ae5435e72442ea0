"""Figures that would be wrong of a pool whose trades nobody counts are refused with the reason, whatever its hook."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context
from tests.tools_app.protocols.uniswap.v4_hooks import BENIGN, FEE_CHANGER, THIEF, Hook, open_hooked_pool
from tools_app.core.errors import GolemError
from tools_app.toolkit.context import WriteContext

pytestmark = [pytest.mark.protocols("uniswap_v4"), pytest.mark.django_db]

COMPUTED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("intel_simulate_price_impact", {"trade_sizes_usd": ["1000"]}),
    ("intel_assess_mev_risk", {"token_in": "DAI", "token_out": "USDC", "amount_usd": "1000"}),
    ("intel_estimate_revert_risk", {"trade_size_usd": "1000"}),
)
COUNTED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("intel_compute_vpin", {}),
    ("intel_compute_lvr", {}),
    ("intel_get_order_flow_metrics", {}),
    ("intel_calculate_fee_switch_impact", {}),
)


@pytest.mark.parametrize("hook", [THIEF, FEE_CHANGER], ids=["thief", "fee changer"])
def test_a_pool_with_a_hook_is_refused_by_every_figure_of_trades_and_called_neither_empty_nor_quiet(
    chain: World, hook: Hook
) -> None:
    pool = open_hooked_pool(chain, hook).pool_id
    ctx = make_context(chain)
    for name, params in (*COMPUTED, *COUNTED):
        check_refused(ctx, name, pool=pool, **params)
    told = answer_of(ctx, "data_get_pool_volume_history", pool_address=pool)
    assert told["bars"] == [] and "not counted" in told["reason"], "no advice to follow what following does not help"


def test_of_a_pool_whose_hook_only_watches_trades_are_counted_and_swaps_are_not_computed(chain: World) -> None:
    pool = open_hooked_pool(chain, BENIGN).pool_id
    ctx = make_context(chain)
    for name, params in COMPUTED:
        check_refused(ctx, name, pool=pool, **params)
    for name, params in COUNTED:
        with pytest.raises(GolemError) as refused:
            call_tool(ctx, name, pool=pool, **params)
        assert refused.value.code == "INSUFFICIENT_HISTORY", "nobody traded in it yet"
    told = answer_of(ctx, "data_get_pool_volume_history", pool_address=pool)
    assert told["bars"] == [] and "stream_pool_events" in told["reason"]


def check_refused(ctx: WriteContext, name: str, **params: Any) -> None:
    with pytest.raises(GolemError) as refused:
        call_tool(ctx, name, **params)
    assert (refused.value.code, refused.value.recovery) == ("POOL_NOT_COUNTED", "FIX_PARAMS"), name
    assert "hook" in refused.value.detail and "another pool" in refused.value.detail
