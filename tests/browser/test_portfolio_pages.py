"""What a golem owns, owes and waits for, as its owner sees it: a loan, a vault share and a place in a queue."""

from __future__ import annotations

import re
from typing import Any

import pytest

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import ActionPermit, ChangeRequest, HaltSetting, PolicyCage
from tests import factories
from tests.browser.axe import find_serious
from tests.browser.conftest import PHONE, WIDE, go_to, press
from tests.browser.holder import ETH, PROTOCOLS, USDC, do, give_tools, hold_everything, look_twice
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tests.made_up_bridge.on_the_shelf import Crossing
from tests.permits_app.approvals.conftest import eager as eager
from tests.permits_app.test_kept_predictions import chance, ended
from tests.tools_app.factories import run_plan
from tests.tools_app.protocols.uniswap.test_swaps import plan_swap, rich_account
from tools_app.core import clock
from tools_app.protocols.erc4626.addresses import known_vaults

pytestmark = [pytest.mark.browser, pytest.mark.protocols(*PROTOCOLS)]


@pytest.fixture
def owned(shared_golem: LiveGolem, eager: None) -> LiveGolem:
    """A golem whose owner can log in."""
    shared_golem.owner.set_password(PASSWORD)
    shared_golem.owner.save()
    shared_golem.owner.groups.add(ensure_owner_group())
    return shared_golem


def test_a_loan_a_vault_share_and_a_queue_are_seen_with_dollars_health_and_times(
    open_window: Any, owned: LiveGolem
) -> None:
    borrowed = hold_everything(owned)
    look_twice(owned)
    offer = factories.make_signed_promise(permit=ActionPermit.objects.get(pk=borrowed["permit_id"]))
    golem_page = f"/admin/archetypes_app/golem/{owned.golem.pk}/money/"
    pages = {"golem": golem_page, "cockpit": f"/admin/cockpit/{owned.golem.pk}/", "fleet": "/admin/cockpit/"}
    told: dict[str, str] = {}
    for name, kind in (("light", {"viewport": WIDE}), ("dark", {"viewport": WIDE, "is_dark": True})):
        visit = open_window(**kind)
        visit.log_in("owner-a")
        for page, path in pages.items():
            go_to(visit.page, visit.base_url + path)
            visit.page.wait_for_selector(".gx")
            told[page] = visit.page.inner_text("#content")
            visit.shoot(f"holder-{page}-{name}")
    phone = open_window(viewport=PHONE)
    phone.log_in("owner-a")
    for page, path in pages.items():
        go_to(phone.page, phone.base_url + path)
        phone.shoot(f"holder-{page}-phone")
        assert phone.overflow() == 0, page
        if page == "golem":
            height = phone.page.evaluate("document.documentElement.scrollHeight")
            assert height <= 2_500, "a full Money tab folds on a phone what can wait"
    for page in ("golem", "cockpit"):
        # A second of interest may be owed already.
        assert "Aave V3" in told[page] and re.search(r"900(\.0000\d+)? USDC", told[page]), told[page]
        assert "Local USDC vault" in told[page]
        assert "Lido (simulated contract)" in told[page] and "of debt subtracted" in told[page]
        assert "Aave V3 (simulated contract)" not in told[page]
        assert "Requests under way" in told[page] and "1 ETH" in told[page]
        assert "profit or loss in 24 h" in told[page]
    assert "Signed promises" in told["golem"] and "1 ETH" in told["golem"].split("Signed promises")[1]
    assert offer.signature not in told["golem"]
    assert "owes $9" in told["fleet"] and "health" in told["fleet"] and "all free in" in told["fleet"]
    visit.open(f"/admin/permits_app/actionpermit/{borrowed['permit_id']}/change/")
    visit.shoot("holder-loan-story")
    story = visit.page.inner_text("#content")
    assert "Owed afterwards" in story and "900 USDC" in story and "no debt before" in story
    assert "Not in the plan" not in story and "base units of" not in story
    asked = ChangeRequest.objects.get(permit_id=borrowed["permit_id"])
    visit.open(f"/admin/permits_app/changerequest/{asked.pk}/change/")
    visit.shoot("holder-loan-approval")
    approval = visit.page.inner_text("body")
    for page, path in {
        "loan-story": f"/admin/permits_app/actionpermit/{borrowed['permit_id']}/change/",
        "loan-approval": f"/admin/permits_app/changerequest/{asked.pk}/change/",
    }.items():
        phone.open(path)
        phone.shoot(f"holder-{page}-phone")
        assert phone.overflow() == 0, page
    assert "900 USDC" in approval and "2.75, no debt before" in approval
    assert "borrow on Aave V3 pool" in approval and "unknown function" not in approval
    assert "base units" not in approval


def test_a_halt_tells_the_way_out_of_each_position_and_when(open_window: Any, owned: LiveGolem) -> None:
    hold_everything(owned)
    HaltSetting.objects.create(golem=owned.golem, unwind_on_halt=True)
    visit = open_window(viewport=WIDE)
    visit.log_in("owner-a")
    page = visit.open(f"/admin/archetypes_app/golem/{owned.golem.pk}/halt/")
    before = page.inner_text("#content")
    visit.shoot("holder-halt-before")
    assert "Aave V3" in before and "Lido (simulated contract)" in before and "waits" in before
    halt_golem(golem=owned.golem, reason="drained", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=owned.golem.pk, epoch=1, now=clock.now())
    visit.open(f"/admin/archetypes_app/golem/{owned.golem.pk}/change/")
    exits = page.inner_text("#exits")
    visit.shoot("holder-halted")
    assert "waits" in exits and "UTC" in exits and "Local USDC vault" in exits
    assert "Aave V3" in exits and "Lido (simulated contract)" in exits and "stETH joins the withdrawal queue" in exits
    visit.open("/admin/permits_app/haltrecord/")
    press(page.get_by_role("link", name="Live").first)
    # Before its style is there, what is folded counts as shown.
    page.wait_for_load_state("networkidle")
    record = page.inner_text("#content")
    visit.shoot("holder-halt-record")
    phone = open_window(viewport=PHONE)
    phone.log_in("owner-a")
    for name, path in {
        "halted": f"/admin/archetypes_app/golem/{owned.golem.pk}/change/",
        "halt-record": page.url.removeprefix(visit.base_url),
    }.items():
        phone.open(path)
        phone.shoot(f"holder-{name}-phone")
        assert phone.overflow() == 0, name
    assert "{" not in record and "0x" not in record.replace("0x…", "").split("Steps")[0]


def test_what_a_gift_to_a_vault_made_of_its_shares_is_told_as_not_counted(open_window: Any, owned: LiveGolem) -> None:
    world = owned.world
    give_tools(owned)
    do(owned, "deposit", "erc4626", vault=(vault := known_vaults(31337)[0].address), amount=str(1_000 * USDC))
    donor = world.new_account(ETH, {"USDC": 50_000 * USDC})
    world.transact(donor, world.tokens["USDC"].address, "transfer(address,uint256)", vault, 50_000 * USDC)
    look_twice(owned)
    for viewport in (WIDE, PHONE):
        visit = open_window(viewport=viewport)
        visit.log_in("owner-a")
        for name, path in {
            "golem": f"/admin/archetypes_app/golem/{owned.golem.pk}/money/",
            "cockpit": f"/admin/cockpit/{owned.golem.pk}/",
        }.items():
            page = visit.open(path)
            visit.shoot(f"gift-{name}-{viewport['width']}")
            text = page.inner_text("#content")
            assert re.search(r"Not counted: \d[\d,.]* USDC in Local USDC vault, whose shares became dearer", text), text
            assert re.search(r"(999\.\d+|1,?000(\.\d+)?) USDC", text), text
            assert "SHARE_PRICE_JUMPED" not in text
            assert visit.overflow() == 0, name
        assert find_serious(page) == []


def earn_fees(owned: LiveGolem) -> None:
    """A stranger trades through each pool of the pair, to and fro."""
    stranger = rich_account(owned.world)
    for fee in ("v3:500", "v3:3000"):
        for sold, bought, amount in (("USDC", "WETH", 60_000 * 10**6), ("WETH", "USDC", 20 * 10**18)):
            params = {"token_in": sold, "token_out": bought, "amount": str(amount), "route": fee, "slippage_bps": 2_000}
            run_plan(owned.world, stranger, plan_swap(owned.world, stranger, **params))


def test_liquidity_is_seen_in_its_range_and_each_share_beside_what_the_cage_allows(
    open_window: Any, owned: LiveGolem
) -> None:
    PolicyCage.objects.filter(golem=owned.golem).update(max_position_bps=8_000, max_concentration_bps=9_000)
    clean = dict.fromkeys(("token_in", "token_out", "amount"))
    opened = {"token0": "WETH", "token1": "USDC", "price_lower": "2500", "price_upper": "3600"}
    do(owned, "add_liquidity", "uniswap", **clean, **opened, amount1="1000000000")
    earn_fees(owned)
    page_of = f"/admin/archetypes_app/golem/{owned.golem.pk}/money/"
    for viewport in (WIDE, PHONE):
        visit = open_window(viewport=viewport)
        visit.log_in("owner-a")
        page = visit.open(page_of)
        visit.shoot(f"liquidity-{viewport['width']}")
        drawn = page.locator(".gx-range:not(.gx-range-fees)")
        assert drawn.count() == 1 and "In range" in (drawn.get_attribute("aria-label") or "")
        text = page.inner_text("#content")
        assert re.search(r"In range at \d,\d{3}(\.\d+)? USDC per WETH; 2,\d{3}(\.\d+)? to 3,\d{3}", text), text
        assert re.search(r"Fees waiting: 0\.\d+ WETH and \d+(\.\d+)? USDC, 0\.\d\d% of what is in it", text), text
        fees = page.locator(".gx-range-fees rect").nth(1)
        assert fees.get_attribute("width") is not None and "hook" not in page.inner_text(".gx-table")
        if viewport is PHONE:
            page.locator(".gx-allocation > summary").click()
        held = page.inner_text(".gx-allocation")
        assert re.search(r"WETH\s+\d+(\.\d+)?% of 90\.00%", held) and "of 100.00%" in held, held
        assert re.search(r"Largest position: Uniswap V3 .* of 80\.00%", held.replace("\n", " ")), held
        assert find_serious(page) == [] and visit.overflow() == 0


def test_the_risk_board_shows_each_position_its_bars_and_the_way_out_and_fits_every_window(
    open_window: Any, owned: LiveGolem
) -> None:
    hold_everything(owned)
    carry_out_what_was_predicted(owned)
    path = f"/admin/cockpit/{owned.golem.pk}/risks/"
    for viewport in (WIDE, PHONE):
        for is_dark in (False, True):
            visit = open_window(viewport=viewport, is_dark=is_dark)
            visit.log_in("owner-a")
            page = visit.open(path)
            visit.shoot(f"risks-{viewport['width']}-{'dark' if is_dark else 'light'}")
            assert visit.overflow() == 0 and find_serious(page) == []
    page.evaluate("document.querySelectorAll('details[data-fold]').forEach((each) => { each.open = true; })")
    text = page.inner_text("#content")
    # What is lent, owed, shared and queued, by every cut of the board.
    for words in ("Aave V3", "Local USDC vault", "Lido (simulated contract)", "wallet", "USDC", "chain 31337"):
        assert words in text, (words, text)
    assert re.search(r"health \d\.\d+, owes \$9\d\d", text) and "If prices fell" in text
    drawn = page.locator(".gx-bar[role=meter]")
    widths = [bar.evaluate("e => e.querySelector('rect').getBoundingClientRect().width") for bar in drawn.all()]
    assert len(widths) > 10 and max(widths) > 50
    # Each group names what it is of: issuers and oracles are told by their names beside their addresses.
    for words in ("Circle", "Maker", "Lido", "price feed of WETH 0x", "price feed of USDC 0x", "oracle of Aave V3 0x"):
        assert words in text, (words, text)
    assert "Local chain, chain 31337" in text and "+00:00" not in text, "names and times are for people"
    rows = {row.locator("td").first.inner_text(): row.inner_text() for row in page.locator("tbody tr").all()}
    judged = {name: (words, " ".join(rows[name].split())) for name, words in JUDGED.items()}
    assert all(words in found for words, found in judged.values()), judged
    pictures = page.locator(".gx-bar[role=img]")
    assert pictures.count() == len(JUDGED) - 1
    # The tick of what was named lies left of the interval of what happened more often.
    picture = page.locator("tr", has_text="more often").locator("rect")
    band, tick = (picture.nth(number).bounding_box() for number in (0, 1))
    assert band is not None and tick is not None and tick["x"] < band["x"] and band["width"] > 5


JUDGED = {"0%": "more often", "up to 1%": "as predicted", "up to 5%": "no action too few", "LOW": "no chance named"}
"""What the page says of each class that `carry_out_what_was_predicted` leaves."""


def carry_out_what_was_predicted(owned: LiveGolem) -> None:
    """Recorded outcomes: of thirty without a chance six reverted, of a hundred with one percent one, sizes apart."""
    for number in range(30):
        ended(owned.golem, chance(0), reverted=number < 6)
    for number in range(100):
        ended(owned.golem, chance(10_000), reverted=number < 1)
    for _ in range(25):
        ended(owned.golem, {"trade_of_pool_bps": 5})


def test_what_is_under_way_over_a_bridge_is_seen_on_the_risk_page_with_who_it_depends_on(
    open_window: Any, crossing: Crossing
) -> None:
    crossing.live.owner.set_password(PASSWORD)
    crossing.live.owner.save()
    crossing.live.owner.groups.add(ensure_owner_group())
    crossing.send()
    crossing.look()
    for viewport in (WIDE, PHONE):
        for is_dark in (False, True):
            visit = open_window(viewport=viewport, is_dark=is_dark)
            visit.log_in(crossing.live.owner.get_username())
            page = visit.open(f"/admin/cockpit/{crossing.live.golem.pk}/risks/")
            visit.shoot(f"risks-bridge-{viewport['width']}-{'dark' if is_dark else 'light'}")
            assert visit.overflow() == 0 and find_serious(page) == []
            page.evaluate("document.querySelectorAll('details[data-fold]').forEach((each) => { each.open = true; })")
            card = page.locator(".gx-card", has=page.get_by_role("heading", name="By bridge"))
            assert re.search(r"The made-up bridge\s+\$4,99\d\.\d\d", card.inner_text()), card.inner_text()
    assert "Circle" in page.inner_text("#content")
