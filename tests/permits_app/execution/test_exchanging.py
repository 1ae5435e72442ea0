"""What a halt does is the owner's choice: stop, leave positions, or leave everything for the base asset. For real, on
the local chain, debts first, within the bound that the owner set.
"""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from permits_app.actions.choose_halt import choose_halt
from permits_app.actions.halt import EXCHANGED_STEP, carry_out_halt, halt_golem
from permits_app.actions.query import describe_golem
from permits_app.execution import halt_wallet_swaps
from permits_app.execution.halt_permits import TOOL_NAME
from permits_app.execution.halt_plan_check import may_sign
from permits_app.execution.position_unwinding import MOST_ATTEMPTS
from permits_app.halts.halt_choices import EXCHANGE_ACTION, SAYS, HaltChoice, is_still_wanted, read_choice
from permits_app.models import ActionPermit, HaltRecord, HaltSetting
from permits_app.models.permit import PermitStatus
from tests.admin.rows import page
from tests.evm.world import World
from tests.golem_project.heartbeat.loans import ETH, USD, health, lend_out, plan
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.safety.calls import open_position
from tests.tools_app.factories import make_context
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.portfolio.holdings import Holdings, Worth, measure_holdings


def choose(golem: LiveGolem, choice: HaltChoice, **more: Any) -> HaltSetting:
    return choose_halt(golem=golem.golem, choice=choice, actor="owner:1", now=clock.now(), **more)


def halt(golem: LiveGolem, **more: Any) -> dict[str, Any]:
    return halt_golem(golem=golem.golem, reason="drained", actor="owner:1", now=clock.now(), **more)


def carry_out(golem: LiveGolem) -> dict[str, Any]:
    steps = carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    return {step["step"]: step for step in steps}


def exchanges(steps: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {line["token"]: line for line in steps[EXCHANGED_STEP]["exchanges"]}


def browse(golem: LiveGolem) -> Client:
    golem.owner.is_staff = golem.owner.is_superuser = True
    golem.owner.save()
    browser = Client()
    browser.force_login(golem.owner)
    return browser


@pytest.mark.protocols("aave_v3")
def test_debts_are_paid_first_and_then_everything_goes_into_the_base_asset(live_golem: LiveGolem, chain: World) -> None:
    open_position(live_golem, chain)
    lend_out(live_golem, supplied=ETH, borrowed=1_000 * USD)
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE)
    usdc, coin = (
        live_golem.balance("USDC"),
        int(chain.rpc.call("eth_getBalance", live_golem.golem.address, "latest"), 16),
    )
    told = halt(live_golem)
    assert (told["choice"], told["what_follows"]) == ("LEAVE_FOR_BASE", SAYS[HaltChoice.LEAVE_FOR_BASE])
    steps = carry_out(live_golem)
    lines = exchanges(steps)
    assert {line["outcome"] for line in lines.values()} == {"COMMITTED"}, lines
    assert {"WETH", "DAI"} <= set(lines)
    held = measure_holdings(chain=make_context(chain).chain(), account=live_golem.golem.address)
    assert health(live_golem) is None and held.positions == ()
    left = {each.token.symbol: each.micro_usd or 0 for each in held.tokens if each.raw and not each.token.is_native}
    assert all(worth < 1_000_000 for symbol, worth in left.items() if symbol != "USDC"), left
    assert live_golem.balance("USDC") > usdc + 5_000 * USD
    assert int(chain.rpc.call("eth_getBalance", live_golem.golem.address, "latest"), 16) > coin * 9 // 10, "gas is kept"
    order = list(ActionPermit.objects.order_by("created_at").values_list("action_type", flat=True))
    assert order.index("exchange_for_base") > max(at for at, kind in enumerate(order) if kind == "unwind_position")
    assert HaltRecord.objects.get().completed_at is not None
    assert AuditEntry.objects.filter(event="HaltExchangeStarted").count() == len(lines)
    shown = (
        browse(live_golem).get(page("permits_app.haltrecord", "change", HaltRecord.objects.get().pk)).content.decode()
    )
    assert "exchanged for about" in shown


@pytest.mark.parametrize("choice", [HaltChoice.STOP, HaltChoice.LEAVE_POSITIONS])
def test_who_did_not_choose_it_keeps_what_is_in_the_wallet(live_golem: LiveGolem, choice: HaltChoice) -> None:
    choose(live_golem, choice)
    weth = live_golem.balance("WETH")
    assert halt(live_golem)["what_follows"] == SAYS[choice]
    assert EXCHANGED_STEP not in carry_out(live_golem)
    assert live_golem.balance("WETH") == weth


def test_what_would_lose_more_than_the_owner_allows_stays_with_the_reason_and_goes_when_they_allow_it(
    live_golem: LiveGolem,
) -> None:
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE, most_loss_bps=1)
    weth = live_golem.balance("WETH")
    halt(live_golem)
    line = exchanges(carry_out(live_golem))["WETH"]
    assert line["outcome"] == "waits" and "its owner allows 0.01%" in line["reason"]
    assert live_golem.balance("WETH") == weth
    assert HaltRecord.objects.get().completed_at is None, "it is tried again"
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE, most_loss_bps=500)
    assert exchanges(carry_out(live_golem))["WETH"]["outcome"] == "COMMITTED"
    assert live_golem.balance("WETH") == 0
    assert HaltRecord.objects.get().completed_at is not None


def test_an_owner_who_takes_it_back_between_two_sales_has_the_next_one_not_made(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE)
    halt(live_golem)
    sell, sold = halt_wallet_swaps._sell, []

    def sell_once(golem: Golem, *more: Any) -> ActionPermit:
        permit = sell(golem, *more)
        sold.append(permit)
        choose(live_golem, HaltChoice.STOP)
        return permit

    monkeypatch.setattr(halt_wallet_swaps, "_sell", sell_once)
    steps = carry_out(live_golem)
    assert len(sold) == 1
    assert steps[EXCHANGED_STEP]["exchanges"][-1]["outcome"] == "its owner stopped this"
    live_golem.golem.refresh_from_db()
    assert not is_still_wanted(sold[0], live_golem.golem), "nor is one that was planned before it signed"


def test_a_drill_says_what_would_be_exchanged_and_exchanges_nothing(live_golem: LiveGolem) -> None:
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE)
    weth = live_golem.balance("WETH")
    told = halt(live_golem, is_drill=True)
    step = next(each for each in told["steps"] if each["step"] == "would be exchanged beside that")
    assert {"WETH", "DAI"} <= {line["token"] for line in step["exchanges"]}
    assert live_golem.balance("WETH") == weth and not ActionPermit.objects.exists()


def test_a_worker_that_does_it_twice_sells_once(live_golem: LiveGolem) -> None:
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE)
    halt(live_golem)
    carry_out(live_golem)
    permits = ActionPermit.objects.filter(action_type="exchange_for_base").count()
    carry_out(live_golem)
    assert (
        halt_wallet_swaps.exchange_holdings(golem=Golem.objects.get(), epoch=1, actor="t", now=clock.now())[1] is True
    )
    assert ActionPermit.objects.filter(action_type="exchange_for_base").count() == permits


def test_a_sale_that_reverted_three_times_in_a_row_is_left_to_the_owner(live_golem: LiveGolem) -> None:
    template = live_golem.permit(live_golem.preview(amount="100000000")["permit_id"])
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE)
    halt(live_golem)
    weth = live_golem.world.tokens["WETH"].address
    for index in range(MOST_ATTEMPTS):
        template.pk, template.halt_epoch, template.tool_name = None, 1, TOOL_NAME
        template.action_type, template.params = EXCHANGE_ACTION, {"token": weth}
        template.status, template.action_hash = PermitStatus.REVERTED, f"0x{index:064x}"
        template.save(force_insert=True)
    lines = exchanges(carry_out(live_golem))
    assert "attempts reverted" in lines["WETH"]["outcome"] and lines["DAI"]["outcome"] == "COMMITTED"


def test_only_what_a_halt_may_sign_is_planned(live_golem: LiveGolem) -> None:
    swap = plan(live_golem, "uniswap_execute_swap", token_in="WETH", token_out="USDC", amount=str(ETH))
    halt(live_golem)
    live_golem.golem.refresh_from_db()
    assert not may_sign(live_golem.golem, swap)
    choose(live_golem, HaltChoice.LEAVE_FOR_BASE)
    assert may_sign(live_golem.golem, swap)


def test_the_choice_is_made_on_the_golems_page_by_its_owner_alone_and_told_to_its_agent(
    live_golem: LiveGolem, chain: World
) -> None:
    other = make_live_golem(chain, name="Other", owner_name="owner-b")
    url = page("archetypes_app.golem", "on_halt", live_golem.golem.pk)
    stranger = Client()
    other.owner.is_staff = True
    other.owner.save()
    stranger.force_login(other.owner)
    form = {"on_halt": "LEAVE_FOR_BASE", "most_loss_bps": "2.5"}
    assert stranger.post(url, form).status_code in (403, 404)
    assert not HaltSetting.objects.exists()
    owner = browse(live_golem)
    assert (
        SAYS[HaltChoice.STOP] in owner.get(page("archetypes_app.golem", "rules", live_golem.golem.pk)).content.decode()
    )
    assert owner.post(url, form).status_code == 302
    row = HaltSetting.objects.get()
    assert (row.golem_id, row.choice, row.most_loss_bps) == (live_golem.golem.pk, "LEAVE_FOR_BASE", 250)
    for path in ("change", "halt"):
        shown = unescape(owner.get(page("archetypes_app.golem", path, live_golem.golem.pk)).content.decode())
        assert SAYS[HaltChoice.LEAVE_FOR_BASE] in shown, path
    told = describe_golem(live_golem.golem, None, clock.now())["on_halt"]
    assert told == {"choice": "LEAVE_FOR_BASE", "what_follows": SAYS[HaltChoice.LEAVE_FOR_BASE]}
    assert read_choice(other.golem) is HaltChoice.STOP
    assert AuditEntry.objects.filter(event="HaltChosen", golem_id=live_golem.golem.pk).count() == 1


def test_a_dollar_is_exchanged_and_what_is_worth_less_stays(live_golem: LiveGolem) -> None:
    chain = make_context(live_golem.world).chain()
    dai, usdc = (chain.token(live_golem.world.tokens[symbol].address) for symbol in ("DAI", "USDC"))
    # What the feed says of a unit is worked out here, so that the edge is a dollar by that feed.
    price = chain.price(dai)
    raw = next(
        each for each in range(10**18 // 2, 2 * 10**18, 10**12) if (Worth(dai, each, price).micro_usd or 0) >= 10**6
    )
    held = Holdings(())
    assert halt_wallet_swaps._say_why_it_stays(Worth(dai, raw, price), usdc, held) == ""
    below = next(each for each in range(raw, 0, -(10**12)) if (Worth(dai, each, price).micro_usd or 0) < 10**6)
    assert "less than a dollar" in halt_wallet_swaps._say_why_it_stays(Worth(dai, below, price), usdc, held)


@pytest.mark.parametrize(("most_loss_bps", "slippage_bps"), [(1, 1), (99, 99), (100, 100), (101, 100), (5_000, 100)])
def test_a_sale_slips_by_one_percent_or_by_less_where_less_may_be_lost(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, most_loss_bps: int, slippage_bps: int
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(halt_wallet_swaps, "find_best_sale", lambda **given: asked.append(given["slippage_bps"]))
    chain = make_context(live_golem.world).chain()
    weth, usdc = (chain.token(live_golem.world.tokens[symbol].address) for symbol in ("WETH", "USDC"))
    worth = Worth(weth, ETH, chain.price(weth))
    found = halt_wallet_swaps._choose_sale(live_golem.golem, worth, usdc, most_loss_bps, chain, clock.now())
    assert set(asked) == {slippage_bps} and len(asked) == len(halt_wallet_swaps.PARTS)
    assert isinstance(found, halt_wallet_swaps._TooDear) and found.outcome == "its owner is needed"
