"""Advice on gas is arithmetic on what nodes say, and a chain that is silent is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context
from tools_app.subsystems.intel import gas_advice
from tools_app.subsystems.intel.gas_advice import TYPICAL_GAS, GasAdvice


def advise(chain: World, **params: Any) -> GasAdvice:
    found: GasAdvice = call_tool(make_context(chain), "intel_advise_gas_optimization", **params)
    return found


def test_the_cost_is_typical_gas_at_the_fees_of_the_next_block(chain: World) -> None:
    reader = make_context(chain).chain()
    fees, price = reader.fees(), reader.price(reader.native())
    wei = TYPICAL_GAS["SWAP"] * (fees.base_fee + fees.priority_fee)
    [row] = advise(chain, operations=["SWAP"]).current_gas_by_chain
    assert row.cost_usd is not None
    assert row.cost_usd.micro == pytest.approx(wei * price.answer / 10**price.decimals / 10**12, abs=1)


@pytest.mark.parametrize(("base_fees", "is_dear"), [([100] * 9, False), ([80] * 9, False), ([79] * 9, True)])
def test_fees_are_dear_from_a_quarter_above_the_median(
    chain: World, monkeypatch: pytest.MonkeyPatch, base_fees: list[int], is_dear: bool
) -> None:
    now = make_context(chain).chain().fees().base_fee
    monkeypatch.setattr(gas_advice, "_read_base_fees", lambda ctx, reader: [now * each / 100 for each in base_fees])
    told = advise(chain, operations=["SWAP"])
    # 80 of 100: exactly a quarter above is not yet more.
    assert told.current_gas_by_chain[0].is_dear is is_dear
    assert (told.recommended_time_utc is None) is is_dear


def test_a_chain_that_this_server_does_not_know_is_named_and_never_recommended(chain: World) -> None:
    told = advise(chain, operations=["SWAP"], chain_ids=[31337, 999_999])
    assert told.recommended_chain == 31337
    silent = told.current_gas_by_chain[1]
    assert silent.cost_usd is None and "CHAIN_NOT_SUPPORTED" in str(silent.reason)
    alone = advise(chain, operations=["SWAP"], chain_ids=[999_999])
    assert (alone.recommended_chain, alone.estimated_savings_usd) == (None, None)
