"""The board changes its word exactly where it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import InvalidParams
from tools_app.portfolio import given_allowances
from tools_app.portfolio.given_allowances import MOST_RANGES, UNLIMITED_FROM, Given, find_given_allowances
from tools_app.portfolio.holdings import HeldPosition, Holdings, Worth
from tools_app.subsystems.safety.account_measurement import MeasuredAccount, OnChain, may_fall_bps
from tools_app.subsystems.safety.approval_tools import MOST_AT_ONCE
from tools_app.subsystems.safety.exposure_tools import _judge, _Sums
from tools_app.subsystems.safety.health_tools import _list_risks
from tools_app.subsystems.safety.price_shocks import follows_dollar, shock
from tools_app.toolkit.positions import Leg, Position, PositionRef
from tools_app.toolkit.views import BlockRef, FeedPrice, TokenMeta

USD, ETH = 10**6, 10**18
WETH = TokenMeta(31337, "0x" + "11" * 20, "WETH", 18, "", is_registered=True)
USDC = TokenMeta(31337, "0x" + "22" * 20, "USDC", 6, "", is_registered=True)


def feed(dollars_e8: int) -> FeedPrice:
    return FeedPrice("0x" + "00" * 20, dollars_e8, 8, 1, 0, 0)


def loan(*, ether: int, owed: int, cover_bps: int = 8_000) -> HeldPosition:
    """Ether at 2,000 dollars against dollars, with the health that its legs have."""
    legs = (Leg(WETH.address, ether * ETH, cover_bps=cover_bps), Leg(USDC.address, -owed * USD))
    parts = (Worth(WETH, ether * ETH, feed(2_000 * 10**8)), Worth(USDC, -owed * USD, feed(10**8)))
    health = ether * 2_000 * cover_bps // owed
    return HeldPosition(Position(PositionRef("lender", "loan", 31337, "1"), "A loan", legs), parts, (), health)


def test_a_position_is_liquidated_at_one_and_not_a_hair_above() -> None:
    # 10 ether cover 16,000 dollars at 80%; 8,000 owed: a fall by half leaves exactly what is owed.
    held = loan(ether=10, owed=8_000)
    at, above = shock(held, {WETH.address: 5_000}), shock(held, {WETH.address: 4_999})
    assert (at.health_bps, at.is_liquidated) == (10_000, True)
    assert above.health_bps is not None and above.health_bps > 10_000 and not above.is_liquidated
    assert above.penalty_micro_usd == 0
    # A tenth of the debt, of the 2,000 dollars that are left beside it.
    assert (at.net_micro_usd, at.penalty_micro_usd) == (2_000 * USD, 800 * USD)


def test_a_liquidation_costs_no_more_than_what_is_left() -> None:
    held = loan(ether=10, owed=8_000, cover_bps=8_000)
    assert shock(held, {WETH.address: 5_990}).penalty_micro_usd == 20 * USD
    assert shock(held, {WETH.address: 9_000}).penalty_micro_usd == 0


@pytest.mark.parametrize(
    ("health", "falls"), [(10_000, 0), (9_000, 0), (10_001, 0), (20_000, 5_000), (15_000, 3_333), (40_000, 7_500)]
)
def test_how_far_cover_may_fall_follows_from_health(health: int, falls: int) -> None:
    assert may_fall_bps(health) == falls


@pytest.mark.parametrize(
    ("answer", "follows"), [(103_000_000, True), (103_000_001, False), (97_000_000, True), (96_999_999, False)]
)
def test_three_percent_from_a_dollar_still_follow_it(answer: int, follows: bool) -> None:
    assert follows_dollar(feed(answer)) is follows
    assert not follows_dollar(None)


@pytest.mark.parametrize(
    ("share", "word", "advised"), [(2_500, "Low", 0), (2_501, "Medium", 1), (5_000, "Medium", 1), (5_001, "High", 1)]
)
def test_a_quarter_is_low_and_half_is_medium(share: int, word: str, advised: int) -> None:
    protocols, assets = _Sums(), _Sums()
    protocols.add("wallet", 10_000 - share)
    protocols.add("A lender", share)
    assets.add("USDC 0x22", 10_000)
    risk, advice = _judge(protocols, assets, set())
    assert (risk, len(advice)) == (word, advised)


class _Reader:
    """A chain of which only its number and block are asked."""

    chain_id = 31337
    block = BlockRef(1, "0x" + "00" * 32, 0, 0)


def measured(*positions: HeldPosition, wallet: int = 0) -> MeasuredAccount:
    tokens = (Worth(USDC, wallet, feed(10**8)),) if wallet else ()
    reader: Any = _Reader()
    return MeasuredAccount("0x" + "33" * 20, (OnChain(reader, Holdings(tokens, positions), ()),))


def test_more_than_half_in_one_position_is_told_as_a_risk() -> None:
    safe = loan(ether=1, owed=100)
    assert _list_risks(measured(safe, wallet=2_000 * USD)) == []
    [told] = _list_risks(measured(safe, wallet=1_999 * USD))
    assert "50.01% of everything" in told


@pytest.mark.parametrize(("through", "least"), [("", UNLIMITED_FROM), ("permit2", 2**160 - 1)])
def test_an_allowance_that_no_balance_reaches_is_no_limit(through: str, least: int) -> None:
    assert Given("0x", "0x", least, through).is_unlimited
    assert not Given("0x", "0x", least - 1, through).is_unlimited


def test_ten_approvals_are_taken_back_at_once_and_eleven_refused(chain: World) -> None:
    owner = chain.new_account(ETH)
    token = chain.tokens["USDC"].address
    takers = [f"0x{number + 1:040x}" for number in range(MOST_AT_ONCE + 1)]
    for taker in takers:
        chain.transact(owner, token, "approve(address,uint256)", taker, 1)
    asked = [{"token": "USDC", "spender": taker} for taker in takers]
    context = make_context(chain, address=owner.address)
    plan = call_tool(context, "safety_batch_revoke_approvals", approvals=asked[:MOST_AT_ONCE])
    assert len(plan.calls) == MOST_AT_ONCE
    with pytest.raises(InvalidParams):
        call_tool(context, "safety_batch_revoke_approvals", approvals=asked)


def test_fifty_ranges_of_logs_are_searched_and_what_lies_before_them_is_said(
    chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = chain.new_account(ETH)
    token = chain.tokens["USDC"].address
    chain.transact(owner, token, "approve(address,uint256)", chain.actors.deployer.address, 5)
    narrow = replace(KNOWN_NETWORKS[31337], max_log_range=1)
    monkeypatch.setattr(given_allowances, "KNOWN_NETWORKS", {31337: narrow})
    for mined, is_found in ((MOST_RANGES - 1, True), (1, False)):
        chain.rpc.call("anvil_mine", hex(mined))
        found = find_given_allowances(chain=make_context(chain).chain(), account=owner.address)
        assert bool(found.standing) is is_found
        assert any(each.startswith("NOT_SEARCHED") for each in found.gaps)
