"""A dollar token that left the dollar is told within a tick and seen on the board; nobody buys it, all may sell it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import AlertBatch, Golem
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.toolset import view_golem
from golem_project.heartbeat.entry_caution import OFF_PEG, doubt_wishes
from permits_app.errors import TokenOffPeg
from permits_app.models import DeclaredPeg, DeniedCall
from permits_app.previews.peg_check import read_declared
from tests.admin.rows import page
from tests.evm.world import CHAIN_ID
from tests.golem_project.alerts.room import make_channel, read_texts, run
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.golem_project.heartbeat.test_known_market import WISHES, done_in
from tests.live_golem import LiveGolem, make_live_golem
from tests.receiver import Receiver
from tests.tools_app.portfolio.test_pegs import make_peg
from tools_app import runner
from tools_app.core import clock
from tools_app.portfolio.pegs import MOST_DECLARED, OffPeg
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool


def set_dollars(live: LiveGolem, symbol: str, ten_thousandths: int) -> None:
    live.world.transact(
        live.world.actors.deployer, live.world.tokens[symbol].feed, "setAnswer(int256)", ten_thousandths * 10**4
    )


def ask(golem: Golem, name: str) -> Any:
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    return runner.run_read(tool=tool, params={}, golem=view_golem(golem), now=clock.now()).data


@pytest.mark.django_db(transaction=True)
def test_a_fall_and_its_end_are_told_once_each_to_whoever_hears_of_dangers(
    live_golem: LiveGolem, receiver: Receiver
) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    make_channel(live_golem.golem, receiver.url, topics=["danger"], digest_minutes=60)
    turn_on(live_golem.golem, rule={})
    tick(live_golem.golem)
    assert run() == 0
    set_dollars(live_golem, "DAI", 9_300)
    record = tick(live_golem.golem)
    assert run() == 1
    assert "left the dollar or ether it stands for" in read_texts(receiver)[0]
    [told] = AlertBatch.objects.get(golem=live_golem.golem, source="off-peg").alerts
    assert told["rule"] == "off its peg: DAI"
    assert told["observed"] == "DAI is worth 0.9300 of the dollar it stands for, 7.00% below it; 2.00% is allowed"
    assert [each["name"] for each in record.probes["off_peg"]] == ["DAI"]
    set_dollars(live_golem, "DAI", 9_200)
    tick(live_golem.golem)
    assert run() == 0, "it was told twice"
    set_dollars(live_golem, "DAI", 9_990)
    assert "off_peg" not in tick(live_golem.golem).probes
    assert run() == 1
    tick(live_golem.golem)
    assert AlertBatch.objects.filter(golem=live_golem.golem, source="off-peg").count() == 2


@pytest.mark.django_db
def test_nobody_buys_it_and_everybody_may_sell_it(live_golem: LiveGolem) -> None:
    set_dollars(live_golem, "DAI", 9_700)
    with pytest.raises(TokenOffPeg) as refused:
        live_golem.preview(token_in="USDC", token_out="DAI")
    error = refused.value
    assert (error.code, error.recovery, error.data["token"]) == (
        "TOKEN_OFF_PEG",
        "WAIT",
        live_golem.world.tokens["DAI"].address,
    )
    assert "3.00% below" in error.detail and "Sky" in str(error.data["limit"])
    assert DeniedCall.objects.get(golem=live_golem.golem).code == "TOKEN_OFF_PEG"
    sold = live_golem.preview(token_in="DAI", token_out="USDC", amount=str(100 * 10**18), slippage_bps=400)
    assert sold["status"] == "CREATED"
    set_dollars(live_golem, "DAI", 9_800)
    assert live_golem.preview(token_in="USDC", token_out="DAI", slippage_bps=400)["status"] == "CREATED"


@pytest.mark.django_db
def test_the_base_asset_may_be_bought_off_its_peg_and_not_put_into_a_pool(live_golem: LiveGolem) -> None:
    assert live_golem.golem.base_asset == "USDC"
    set_dollars(live_golem, "USDC", 9_750)
    bought = live_golem.preview(token_in="WETH", token_out="USDC", amount=str(10**16), slippage_bps=400)
    assert bought["status"] == "CREATED"
    entry = {"token0": "WETH", "token1": "USDC", "price_lower": "1", "price_upper": "100000", "amount1": "500000000"}
    asked = {**dict.fromkeys(("token_in", "token_out", "amount")), **entry, "action_type": "add_liquidity"}
    with pytest.raises(TokenOffPeg) as refused:
        live_golem.preview(**asked)
    assert "decrease or close now" in str(refused.value.data["would_pass"])


@pytest.mark.django_db
def test_the_board_says_it_with_the_figures_and_is_safe_again_after_it(live_golem: LiveGolem) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    assert ask(live_golem.golem, "safety_get_risk_dashboard")["off_peg"] == []
    set_dollars(live_golem, "DAI", 10_300)
    board = ask(live_golem.golem, "safety_get_risk_dashboard")
    words = "DAI is worth 1.0300 of the dollar it stands for, 3.00% above it; 2.00% is allowed"
    assert board["off_peg"] == [words] and board["overall_risk"] == "Warning"
    assert "off its peg: DAI" in board["summary"]
    assert words in ask(live_golem.golem, "safety_get_portfolio_health")["top_risks"]
    client = Client()
    client.force_login(live_golem.owner)
    seen = client.get(reverse("risks", args=[live_golem.golem.pk])).content.decode()
    assert words in re.sub(r"\s+", " ", seen)
    set_dollars(live_golem, "DAI", 10_000)
    assert ask(live_golem.golem, "safety_get_risk_dashboard")["overall_risk"] == "Safe"


@pytest.mark.django_db(transaction=True)
def test_what_an_owner_declares_is_watched_for_that_golem_alone(live_golem: LiveGolem) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    fee = live_golem.world.tokens["FEE"]
    stranger = make_live_golem(live_golem.world, name="Elsewhere", owner_name="owner-b")
    client = Client()
    client.force_login(live_golem.owner)
    body = {
        "golem": str(live_golem.golem.pk),
        "chain_id": str(CHAIN_ID),
        "token": fee.address,
        "name": "Fee dollar",
        "stands_for": "USD",
        "most_apart_bps": "150",
        "source": "its maker's page",
    }
    url = page("permits_app.declaredpeg", "add")
    assert client.post(url, {**body, "golem": str(stranger.golem.pk)}).status_code == 200
    assert client.post(url, {**body, "token": fee.address[:-1] + "zz"}).status_code == 200
    assert not DeclaredPeg.objects.exists()
    assert client.post(url, body).status_code == 302, client.post(url, body).content.decode()[:3000]
    set_dollars(live_golem, "FEE", 9_840)
    turn_on(live_golem.golem, rule={})
    told = tick(live_golem.golem).probes["off_peg"]
    assert [each["words"] for each in told] == [
        "Fee dollar is worth 0.9840 of the dollar it stands for, 1.60% below it; 1.50% is allowed"
    ]
    turn_on(stranger.golem, rule={})
    assert "off_peg" not in tick(stranger.golem).probes
    set_dollars(live_golem, "FEE", 10_000)


def test_a_rules_entries_wait_for_it_and_what_leaves_does_not() -> None:
    off = OffPeg(make_peg(), 9_000)
    doubted = doubt_wishes(WISHES, known=None, debts=(), size_micro_usd=10**9, off_peg=[off])
    assert {(each.wish_key, each.code) for each in doubted} == {("open", OFF_PEG), ("swap", OFF_PEG)}
    assert all(each.words == off.words for each in doubted)


@pytest.mark.django_db(transaction=True)
def test_a_rule_does_not_open_in_a_pool_of_it_and_says_why(live_golem: LiveGolem) -> None:
    """By its owner's word a coin at 3,000 dollars stands for one: feeds and pool agree, so that nothing else waits."""
    weth = live_golem.world.tokens["WETH"].address
    row = DeclaredPeg.objects.create(
        golem=live_golem.golem, chain_id=CHAIN_ID, token=weth, name="Odd", stands_for="USD", source="nobody"
    )
    turn_on(live_golem.golem, rule=RULE)
    record = tick(live_golem.golem)
    assert done_in(record) == []
    held, *_ = [each["doubted"] for each in record.interventions if "doubted" in each]
    assert held["code"] == "TOKEN_OFF_PEG" and "Odd is worth" in held["words"]
    row.delete()
    assert done_in(tick(live_golem.golem)) != []


@pytest.mark.django_db
def test_a_golem_watches_sixteen_declared_pegs_and_a_seventeenth_is_refused_in_words(live_golem: LiveGolem) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(live_golem.owner)
    url = page("permits_app.declaredpeg", "add")
    for number in range(MOST_DECLARED + 1):
        body = {
            "golem": str(live_golem.golem.pk),
            "chain_id": str(CHAIN_ID),
            "token": f"0x{number + 1:040x}",
            "name": f"Dollar {number}",
            "stands_for": "USD",
            "most_apart_bps": "200",
            "source": "its maker's page",
        }
        seen = client.post(url, body)
        assert seen.status_code == (302 if number < MOST_DECLARED else 200), number
    assert "take one off first" in seen.content.decode()
    assert DeclaredPeg.objects.count() == len(read_declared(live_golem.golem.pk)) == MOST_DECLARED
