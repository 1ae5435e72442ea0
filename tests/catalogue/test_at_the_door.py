"""At least one case of every protocol goes the product's whole way: REST, hooks, owners, signature, outcome."""

from __future__ import annotations

import pytest

from permits_app.models import OutcomeRecord
from tests.catalogue.door import CASES, Door
from tests.catalogue.proofs import begin, moves_exactly_what_it_says

CHOSEN = (
    "aave_supply",
    "aave_borrow",
    "aave_repay_all",
    "aave_disable_collateral",
    "spark_borrow",
    "morpho_borrow_market",
    "morpho_withdraw_all",
    "maker_generate_dai",
    "maker_close_vault",
    "vault_deposit",
    "lido_stake",
    "lido_unstake",
    "lido_claim_withdrawal",
    "rocketpool_stake",
    "rocketpool_unstake",
    "identity_submit_feedback",
    "identity_transfer_ownership",
    "uniswap_execute_swap",
    "uniswap_swap_v2",
    "uniswap_lp_add_liquidity",
    "uniswap_lp_remove_all",
    "lending_execute_leverage_loop",
    "lending_unwind_loop",
    "safety_batch_revoke_approvals",
)
_SEEN = {CASES[name].protocol for name in CHOSEN}
# Of a protocol that nobody chose from, the way in.
_FIRST = {filed.protocol: name for name, filed in reversed(CASES.items()) if filed.protocol not in _SEEN}
NAMES = (*CHOSEN, *sorted(_FIRST.values()))


def test_every_protocol_and_what_spans_them_is_among_them() -> None:
    assert {CASES[name].protocol for name in NAMES} == {filed.protocol for filed in CASES.values()}
    assert any(name.startswith("lending_") for name in NAMES)


ALL_OF_IT = 10_000
"""Basis points that a case loses of what it moves where that goes to another chain, which is not looked at here."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.protocols(*CASES[name].worlds)) for name in NAMES]
)
def test_a_case_goes_from_preview_to_a_verified_outcome(door: Door, name: str) -> None:
    case = CASES[name].case
    door.stage.prepare(case)
    assert moves_exactly_what_it_says(begin(door.stage, case)) == []
    before = door.stage.holdings().nav_micro_usd
    ended = door.commit(door.preview(case))
    assert ended["status"] == "COMMITTED", ended
    outcome = OutcomeRecord.objects.get(permit_id=ended["permit_id"])
    assert outcome.is_verified, outcome.findings
    # Fees, gas, and what a market takes: nothing of what is carried out here is worth a hundredth less.
    if case.loses_bps < ALL_OF_IT:
        assert door.stage.holdings().nav_micro_usd > before - before // 200
