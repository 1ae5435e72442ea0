"""Debts that fell deep under their floor are led out by rules, without a flash loan and with what no wallet holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from permits_app.models import ActionPermit
from permits_app.models.action_record import ActionRecord
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.loans import ETH, USD, carry_out, health, plan, set_price
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.morpho_blue.golem import usdc_market
from tools_app.protocols.maker_sky.addresses import deployments
from tools_app.standards import erc20
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import TokenMeta

DAI = 10**18


@dataclass(frozen=True)
class Loan:
    """How a loan is taken at one lender, what is borrowed, and to how many dollars WETH falls then."""

    protocol: str
    take: Callable[[LiveGolem], None]
    symbol: str
    fallen_to: int


def at_a_pool(family: str) -> Callable[[LiveGolem], None]:
    def take(live: LiveGolem) -> None:
        carry_out(live, plan(live, f"{family}_supply", asset="WETH", amount=str(2 * ETH)))
        borrow = plan(live, f"{family}_borrow", asset="USDC", amount=str(2_400 * USD), interest_rate_mode="variable")
        carry_out(live, borrow)

    return take


def at_morpho(live: LiveGolem) -> None:
    market: dict[str, Any] = {"market_id": usdc_market()}
    carry_out(live, plan(live, "morpho_supply_market", asset="WETH", amount=str(2 * ETH), **market))
    carry_out(live, plan(live, "morpho_borrow_market", amount=str(2_400 * USD), **market))


def at_maker(live: LiveGolem) -> None:
    carry_out(live, plan(live, "maker_open_vault", collateral_type="ETH-A"))
    world = live.world
    found = world.rpc.read(
        world.protocols["maker"]["get_cdps"],
        "getCdpsAsc(address,address)",
        world.protocols["maker"]["cdp_manager"],
        live.golem.address,
        returns="(uint256[],address[],bytes32[])",
    )
    vault = {"vault_id": str(found[0][0])}
    carry_out(live, plan(live, "maker_deposit_collateral", amount=str(2 * ETH), **vault))
    carry_out(live, plan(live, "maker_generate_dai", dai_amount=str(2_000 * DAI), **vault))


LOANS = (
    Loan("aave_v3", at_a_pool("aave"), "USDC", 1_530),
    Loan("spark", at_a_pool("spark"), "USDC", 1_560),
    Loan("morpho", at_morpho, "USDC", 1_450),
    Loan("maker", at_maker, "DAI", 1_500),
)


def lose_what_was_borrowed(live: LiveGolem, symbol: str) -> None:
    """It was spent: no way out may count on it."""
    token = live.world.tokens[symbol]
    meta = TokenMeta(CHAIN_ID, token.address, symbol, 18, symbol, is_registered=True)
    away = erc20.transfer(token=meta, recipient="0x" + "44" * 20, amount=live.balance(symbol))
    carry_out(live, TxPlan(CHAIN_ID, (away,)))


def fall(live: LiveGolem, loan: Loan, *, is_told: bool = True) -> None:
    """WETH falls; Maker hears of it when somebody tells it."""
    set_price(live, loan.fallen_to)
    if loan.protocol == "maker" and is_told:
        spot = (deployments(CHAIN_ID) or {})["spot"]
        live.world.transact(live.world.actors.makers[0], spot, "poke(bytes32)", b"ETH-A".ljust(32, b"\0"))
    if loan.protocol == "morpho":
        live.world.transact(
            live.world.actors.makers[0],
            live.world.protocols["morpho"]["oracle_weth_usdc"],
            "setPrice(uint256)",
            loan.fallen_to * 10**24,
        )


@pytest.mark.protocols("aave_v3", "spark", "morpho", "maker")
@pytest.mark.parametrize("loan", LOANS, ids=lambda loan: loan.protocol)
def test_a_debt_deep_under_its_floor_is_led_out_step_by_step_without_a_flash_loan(
    live_golem: LiveGolem, loan: Loan
) -> None:
    turn_on(live_golem.golem, rule={})
    loan.take(live_golem)
    lose_what_was_borrowed(live_golem, loan.symbol)
    fall(live_golem, loan)
    seen = [health(live_golem) or 0]
    assert 10_000 < seen[0] < 11_500, seen
    for _ in range(6):
        tick(live_golem.golem)
        seen.append(health(live_golem) or 10**9)
    refused = list(ActionRecord.objects.exclude(state="EXECUTED").values_list("problem", flat=True))
    assert seen == sorted(seen) and seen[-1] >= 15_000, (seen, refused)
    done = ActionPermit.objects.filter(golem=live_golem.golem, status="COMMITTED")
    assert done and {permit.tool_name for permit in done} == {"lending_auto_deleverage"}
    assert {permit.action_class for permit in done} == {ActionClass.DECREASE_POSITION.value}
    for permit in done:
        assert not permit.acts_for and len(permit.calls) > 3, "each call is a transaction of its own"


@pytest.mark.protocols("maker")
def test_a_lender_that_has_not_heard_of_the_fall_is_left_by_what_our_feeds_say(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={})
    at_maker(live_golem)
    lose_what_was_borrowed(live_golem, "DAI")
    fall(live_golem, LOANS[-1], is_told=False)
    seen = [health(live_golem) or 0]
    assert seen[0] < 11_500
    for _ in range(6):
        tick(live_golem.golem)
        seen.append(health(live_golem) or 10**9)
    assert seen == sorted(seen) and seen[-1] >= 15_000, (seen, ActionRecord.objects.values_list("problem", flat=True))


@pytest.mark.protocols("aave_v3", "spark", "morpho", "maker")
@pytest.mark.parametrize("loan", LOANS, ids=lambda loan: loan.protocol)
def test_after_every_single_call_of_a_rescue_the_debt_is_covered(live_golem: LiveGolem, loan: Loan) -> None:
    loan.take(live_golem)
    lose_what_was_borrowed(live_golem, loan.symbol)
    fall(live_golem, loan)
    before = health(live_golem) or 0
    rescue = plan(
        live_golem,
        "lending_auto_deleverage",
        account=live_golem.golem.address,
        target_health_factor="1.7",
        protocol=loan.protocol,
    )
    for call in rescue.calls:
        carry_out(live_golem, replace(rescue, calls=(call,)))
        now = health(live_golem)
        assert now is not None and now > 10_000 + (min(before, 11_500) - 10_000) // 4, call.label
    assert (health(live_golem) or 0) > before
