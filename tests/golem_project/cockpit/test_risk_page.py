"""The risk board as an owner sees it: a real loan, told with the figures of its lender, and to nobody else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.actions.halt import halt_golem
from tests import factories
from tests.evm.world import World
from tests.permits_app.test_kept_predictions import chance, ended
from tests.tools_app.protocols.aave_v3.desk import ETH, USD, Desk, open_desk
from tools_app.core import clock

pytestmark = [pytest.mark.protocols("aave_v3"), pytest.mark.django_db]


@pytest.fixture
def desk(chain: World) -> Desk:
    """Four WETH put in as collateral of the ten, and 4,000 USDC borrowed."""
    desk = open_desk(chain, WETH=10 * ETH)
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(4_000 * USD))
    return desk


def log_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def open_board(user: Any, golem: Golem) -> str:
    answer = log_in(user).get(reverse("risks", args=[golem.pk]))
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_an_owner_sees_the_debt_its_distance_and_what_a_fall_would_leave(desk: Desk) -> None:
    owner = factories.make_owner(name="ana")
    golem = factories.make_golem(owner=owner, address=desk.address)
    seen = open_board(owner, golem)
    pool = desk.chain.protocols["aave_v3"]["pool"]
    told = desk.chain.rpc.read(
        pool,
        "getUserAccountData(address)",
        desk.address,
        returns="(uint256,uint256,uint256,uint256,uint256,uint256)",
    )
    health = int(told[5]) / 1e18
    shown = re.search(r"health (\d+\.\d+), owes \$([\d,]+\.\d+), may fall (\d+\.\d+)%", seen)
    assert shown is not None, seen
    assert float(shown[1]) == pytest.approx(health, abs=0.011)
    assert float(shown[2].replace(",", "")) == pytest.approx(int(told[1]) / 1e8, rel=1e-4)
    assert float(shown[3]) == pytest.approx((1 - 1 / health) * 100, abs=0.05)
    for words in ("Aave V3", "By protocol", "By chain", "If prices fell", "-60%", "Way out, in this order", "survives"):
        assert words in seen, words
    assert "It is not stopped" in seen and "No alert is breached now" in seen


def test_an_owner_sees_on_which_issuers_bridges_and_oracles_what_is_held_depends(desk: Desk) -> None:
    """Shares are worked out here from what the account put in and its feeds, past the product's sums."""
    owner = factories.make_owner(name="ana")
    seen = open_board(owner, factories.make_golem(owner=owner, address=desk.address))
    world = desk.chain
    coin = int(world.rpc.call("eth_getBalance", desk.address, "latest"), 16) * 3_000 / 1e18
    # Six WETH and what was borrowed lie in the wallet; four are lent.
    whole = coin + 6 * 3_000 + 4_000 + 4 * 3_000

    def share(dollars: int) -> str:
        return f"${dollars:,}.00, {int(dollars / whole * 10_000) / 100:.2f}%"

    issuers, bridges, oracles = (
        seen.split(f"By {name} ")[1].split(f" {after}")[0]
        for name, after in (("issuer", "By bridge"), ("bridge", "By oracle"), ("oracle", "If prices fell"))
    )
    assert issuers == f"Circle {share(4_000)}"
    assert bridges == "Nothing that is held came, or is under way, over a bridge that is known here."
    for symbol in ("WETH", "USDC"):
        feed = world.tokens[symbol].feed
        assert f"price feed of {symbol} {feed} on chain 31337 {share(12_000)}" in oracles, oracles


def test_a_stopped_golem_says_that_its_owner_resets_the_breaker(desk: Desk) -> None:
    owner = factories.make_owner(name="ana")
    golem = factories.make_golem(owner=owner, address=desk.address)
    halt_golem(golem=golem, reason="something is wrong", actor=f"golem:{golem.pk}", now=clock.now())
    assert "It is stopped: nothing is signed but the steps of the stop" in open_board(
        owner, Golem.objects.get(pk=golem.pk)
    )


def test_an_owner_sees_how_predictions_came_out_for_this_golem_and_for_nobody_elses(desk: Desk) -> None:
    ana, ben = factories.make_owner(name="ana"), factories.make_owner(name="ben")
    golem = factories.make_golem(owner=ana, address=desk.address)
    other = factories.make_golem(owner=ben, address=desk.chain.new_account(10**18).address)
    for number in range(20):
        ended(golem, chance(50_000), reverted=number < 8)
        ended(other, chance(50_000))
    # Eight of twenty; the interval is Wilson's, worked out by hand.
    assert "up to 5% 20 8 5.0% 40.0% 21.9% to 61.3% more often" in open_board(ana, golem)
    assert "up to 5% 20 0 5.0% 0.0% 0.0% to 16.1% as predicted" in open_board(ben, other)


def test_another_owner_and_a_stranger_see_no_board(desk: Desk) -> None:
    owner, other = factories.make_owner(name="ana"), factories.make_owner(name="ben")
    golem = factories.make_golem(owner=owner, address=desk.address)
    url = reverse("risks", args=[golem.pk])
    assert log_in(other).get(url).status_code == 404
    assert Client().get(url).status_code == 302


def test_a_golem_without_a_wallet_says_so_and_what_to_do(chain: World) -> None:
    owner = factories.make_owner(name="ana")
    seen = open_board(owner, factories.make_golem(owner=owner, address=""))
    assert "Nothing could be measured" in seen and "no wallet" in seen
