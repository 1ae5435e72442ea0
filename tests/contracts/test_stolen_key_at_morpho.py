"""What a stolen key takes by liquidating at the real Morpho, with the rules that a new cage is suggested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.policy_cage.contract import Limit
from tests.contracts.attackers import ran, refused
from tests.proof.caged.morpho import FLASH_LOAN, SEIZE, MorphoMarkets, Terms
from tests.proof.caged.safe import DEFAULT_LIMITS, USD, CagedSafe, set_session
from tests.proof.caged.uniswap import WHOLE
from tools_app.toolkit.plan import Call

SAFE_DOLLARS = 100_000


@pytest.fixture
def markets(caged: CagedSafe) -> MorphoMarkets:
    markets = MorphoMarkets(caged)
    caged.change(*markets.rules())
    set_session(caged)
    return markets


def seize(markets: MorphoMarkets, terms: Terms, amount: int, data: bytes = b"") -> list[Call]:
    """The thief owes in its own market, and the key liquidates it there with the Safe's dollars."""
    caged = markets.caged
    right = caged.approve("USDC", 40_000 * USD, markets.at)
    seized = markets.call(SEIZE, terms.values, caged.stranger.address, amount, 0, data)
    return [right, seized, caged.approve("USDC", 0, markets.at)]


def test_a_stolen_key_that_liquidates_in_a_market_of_the_thief_loses_no_more_than_the_owners_allow(
    markets: MorphoMarkets,
) -> None:
    caged = markets.caged
    dollars, ether = caged.balance("USDC"), caged.balance("WETH")
    # Ether at ten times its price: the whole of it would cost some 27,000 dollars.
    for amount in (WHOLE * 9 // 10, WHOLE // 10, WHOLE // 100):
        assert refused(caged, caged.execute(*seize(markets, markets.strange, amount))) == "LossTooLarge"
    assert (caged.balance("USDC"), caged.balance("WETH")) == (dollars, ether)
    # A price that is a little too dear, beyond what a liquidator is given, runs like any bad price.
    markets.tell_price(markets.price * 1_052 // 1_000)
    for _ in range(9):
        ran(caged, caged.execute(*seize(markets, markets.strange, WHOLE // 10)))
    gained = (caged.balance("WETH") - ether) * 3_000 * USD // WHOLE
    lost = dollars - caged.balance("USDC") - gained
    assert 0 < lost <= SAFE_DOLLARS * USD * DEFAULT_LIMITS[Limit.MAX_WINDOW_LOSS_BPS] // 10_000


def test_no_liquidation_calls_the_account_back_or_names_a_token_that_is_no_asset(markets: MorphoMarkets) -> None:
    caged = markets.caged
    odd = replace(markets.strange, collateral=caged.stranger.address)
    also_odd = replace(markets.strange, loan=caged.stranger.address)
    for terms, data in ((markets.strange, b"\x01"), (odd, b""), (also_odd, b"")):
        assert refused(caged, caged.execute(*seize(markets, terms, WHOLE // 100, data))) == "ConditionNotMet"


def test_a_flash_loan_is_no_call_that_a_new_cage_is_suggested(markets: MorphoMarkets) -> None:
    caged = markets.caged
    loan = markets.call(FLASH_LOAN, caged.coins["USDC"].address, USD, b"")
    assert refused(caged, caged.execute(loan)) == "CallNotAllowed"


def test_what_is_liquidated_at_an_honest_price_runs(markets: MorphoMarkets) -> None:
    """So that what is refused above is refused for the price."""
    caged = markets.caged
    owner = caged.deployer
    honest = markets.honest
    caged.mint("WETH", owner.address, WHOLE)
    for to, data in markets.owing(owner.address):
        assert caged.engine.send(owner, to, data).succeeded
    right = caged.approve("USDC", 40_000 * USD, markets.at)
    seized = markets.call(SEIZE, honest.values, owner.address, WHOLE // 2, 0, b"")
    before = caged.balance("WETH")
    ran(caged, caged.execute(right, seized, caged.approve("USDC", 0, markets.at)))
    assert caged.balance("WETH") == before + WHOLE // 2
