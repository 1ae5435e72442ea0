"""Pure rules of replacements: both fees rise by at least a tenth, and the gas stays inside what was reserved."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from permits_app.execution.payload_states import TRANSITIONS
from permits_app.execution.replacement import TRANSFER_GAS, Fees, fit_gas, raise_fees
from permits_app.models.transaction import TransactionState
from tools_app.toolkit.views import FeeQuote

GWEI = 10**9
fees = st.integers(0, 10_000 * GWEI)


@given(cap=fees, priority=fees, base=fees, market_priority=fees)
def test_both_fees_rise_by_a_tenth_and_reach_the_market(
    cap: int, priority: int, base: int, market_priority: int
) -> None:
    priority = min(cap, priority)
    market = FeeQuote(base_fee=base, priority_fee=market_priority, max_fee=2 * base + market_priority)
    raised = raise_fees(old=Fees(cap=cap, priority=priority), market=market, raise_bps=1_250)
    assert raised.cap * 10 >= cap * 11
    assert raised.priority * 10 >= priority * 11
    assert raised.cap >= market.max_fee
    assert raised.cap >= raised.priority >= market.priority_fee


@given(
    reserved=st.integers(0, 10**20),
    cap=st.integers(1, 10_000 * GWEI),
    limit=st.integers(TRANSFER_GAS, 30_000_000),
    expected=st.integers(TRANSFER_GAS, 30_000_000),
)
def test_a_replacement_never_costs_more_than_was_reserved_nor_starves(
    reserved: int, cap: int, limit: int, expected: int
) -> None:
    gas = fit_gas(reserved_wei=reserved, fees=Fees(cap=cap, priority=0), gas_limit=limit, gas_expected=expected)
    if gas is None:
        assert min(limit, reserved // cap) * 10 < expected * 11
    else:
        assert gas * cap <= reserved
        assert gas <= limit
        assert gas * 10 >= expected * 11


def test_what_is_final_or_mined_leaves_only_by_a_reorganisation() -> None:
    state = TransactionState
    # Only a rollback past what the network calls final leads out of it.
    assert TRANSITIONS[state.FINAL] == {state.REORGED}
    assert TRANSITIONS[state.MINED] == TRANSITIONS[state.REVERTED] == {state.FINAL, state.REORGED}
    assert set(TRANSITIONS) == set(state)
