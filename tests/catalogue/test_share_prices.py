"""A gift to a vault whose shares a golem holds widens neither its value nor its mark; what is earned there counts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from golem_project.heartbeat.duties.regular_valuation import value_unattended
from permits_app.models import HighWaterMark
from permits_app.pages.portfolio_card import read_portfolio_card
from permits_app.safety.hooks.policy_cage import PolicyCageHook
from tests.catalogue.door import Door
from tests.catalogue.test_adversaries import USD, donate, token
from tests.permits_app.safety.calls import swap_call
from tests.permits_app.tools.test_wallet import read
from tools_app.core import clock
from tools_app.models import ShareMark
from tools_app.portfolio.holdings import JUMPED

pytestmark = pytest.mark.protocols("erc4626")
ROUNDING = 10_000
"""A cent: what the mark grows in the seconds of a test, and a share's rounding."""


def deposit(door: Door) -> None:
    """10,500 USDC, through the door."""
    ended = door.commit(door.preview("vault_deposit"))
    assert ended["status"] == "COMMITTED", ended


def in_vault(door: Door) -> int:
    """Base units of USDC that count of what lies in the vault."""
    held = door.stage.holdings().positions
    return sum(each.position.raw_of(token(door, "USDC")) for each in held if each.ref.protocol == "erc4626")


def mark_of(door: Door) -> int:
    """The high-water mark after the hook of the portfolio looked."""
    PolicyCageHook().check(swap_call(door.stage.live))
    return int(HighWaterMark.objects.get(golem=door.stage.live.golem).value_micro_usd)


def look(door: Door) -> None:
    """As a golem without a heartbeat is looked at."""
    HighWaterMark.objects.filter(golem=door.stage.live.golem).update(updated_at=datetime(2020, 1, 1, tzinfo=UTC))
    value_unattended(now=clock.now())


def test_a_gift_to_a_held_vault_raises_neither_value_nor_mark_and_is_told(door: Door) -> None:
    deposit(door)
    mark, before = mark_of(door), in_vault(door)
    donate(3_000_000 * USD)(door)
    look(door)
    assert 0 <= in_vault(door) - before <= ROUNDING
    assert 0 <= mark_of(door) - mark <= ROUNDING
    held = door.stage.holdings()
    assert held.is_steady and [each.split(":")[0] for each in held.problems] == [JUMPED]
    (told,) = read(door.stage.live, "wallet_get_status")["not_counted"]
    assert told.startswith(f"{JUMPED}: ") and "USDC in erc4626/vault/31337/" in told
    card = read_portfolio_card(door.stage.live.golem, now=clock.now())
    assert any("whose shares became dearer at once" in each for each in card.uncounted)


def test_interest_of_a_year_counts_and_a_gift_counts_as_the_time_for_it_passes(door: Door) -> None:
    deposit(door)
    before = in_vault(door)
    door.stage.pass_days(300)
    donate(100_000 * USD)(door)
    (earned,) = (each for each in door.stage.positions() if each.ref.protocol == "erc4626")
    assert in_vault(door) == earned.raw_of(token(door, "USDC")) > before * 1_080 // 1_000
    look(door)
    donate(1_000_000 * USD)(door)
    assert in_vault(door) <= before * 1_200 // 1_000
    door.stage.pass_days(365)
    assert in_vault(door) > before * 1_900 // 1_000


def test_what_is_put_in_after_a_gift_counts_at_its_price_and_all_of_it_comes_out(door: Door) -> None:
    deposit(door)
    donate(3_000_000 * USD)(door)
    before, nav = in_vault(door), door.stage.holdings().nav_micro_usd
    deposit(door)
    assert abs(in_vault(door) - before - 10_500 * USD) <= ROUNDING
    assert abs(door.stage.holdings().nav_micro_usd - nav) < 5 * USD
    usdc = token(door, "USDC")
    had = door.stage.world.rpc.balance_of(usdc, door.stage.account)
    ended = door.commit(door.preview("vault_withdraw", shares="max"))
    assert ended["status"] == "COMMITTED", ended
    assert door.stage.world.rpc.balance_of(usdc, door.stage.account) - had > 45_000 * USD
    # What is got again is believed at the price of that day.
    assert not ShareMark.objects.exists()
    deposit(door)
    assert abs(in_vault(door) - 10_500 * USD) <= ROUNDING
