"""A stranger buries a golem under positions of its own: what the golem had stays seen, counted and held to its mark."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from golem_project.embedded.world.pools import MINT, NO_DEADLINE
from permits_app.actions.search_positions import search_positions
from permits_app.models import HighWaterMark
from tests.adversary.test_strangers import MOST
from tests.golem_project.heartbeat.loans import ETH, USD, carry_out
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.permits_app.test_search_positions import open_unknown_market
from tests.permits_app.tools.test_wallet import read
from tools_app.core import clock
from tools_app.models import KnownPosition
from tools_app.portfolio.position_search import begin_search
from tools_app.portfolio.remembered_positions import MOST_HINTS
from tools_app.protocols.uniswap import positions as uniswap_positions
from tools_app.standards import erc20
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import TokenMeta

CHAIN_ID = 31337


def bury(live: LiveGolem, *, under: int) -> None:
    """So many V3 positions of dust arrive."""
    world = live.world
    stranger = world.new_account(ETH, tokens={"USDC": under * USD, "WETH": 10**17})
    manager = world.contracts["uniswap_v3_position_manager"]
    for symbol in ("USDC", "WETH"):
        world.transact(stranger, world.tokens[symbol].address, "approve(address,uint256)", manager, MOST)
    tokens = sorted((world.tokens[symbol].address for symbol in ("USDC", "WETH")), key=lambda each: int(each, 16))
    amounts = [USD // 100 if token == world.tokens["USDC"].address else 10**13 for token in tokens]
    parameters = (*tokens, 500, -887_270, 887_270, *amounts, 0, 0, live.golem.address, NO_DEADLINE)
    for _ in range(under):
        world.transact(stranger, manager, MINT, parameters)


def lose(live: LiveGolem, symbol: str) -> None:
    """All of a token is gone from the wallet."""
    token = live.world.tokens[symbol]
    meta = TokenMeta(CHAIN_ID, token.address, symbol, 6, symbol, is_registered=True)
    gone = erc20.transfer(token=meta, recipient="0x" + "44" * 20, amount=live.balance(symbol))
    carry_out(live, TxPlan(CHAIN_ID, (gone,)))


@pytest.mark.protocols("morpho")
def test_dust_pushes_no_position_out_that_no_contract_lists(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem, rule={})
    market = open_unknown_market(live_golem, lltv=77 * 10**16, pledge=ETH)
    begin_search(chain_id=CHAIN_ID, account=live_golem.golem.address, now=clock.now())
    assert search_positions(now=clock.now()) == 1
    bury(live_golem, under=MOST_HINTS + 1)
    name = f"morpho/market/{CHAIN_ID}/{market}"
    for _ in range(2):
        tick(live_golem.golem)
        # As after a while: everything that a look meets is noted anew.
        later = timedelta(minutes=6)
        KnownPosition.objects.update(first_seen=F("first_seen") - later, last_seen=F("last_seen") - later)
    status = read(live_golem, "wallet_get_status")
    assert KnownPosition.objects.count() == MOST_HINTS + 2
    assert name in {each["position"] for each in status["positions"]}
    assert status["not_counted"] == []


def test_a_buried_account_is_held_to_its_mark_all_the_same(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_on(live_golem.golem, rule={})
    tick(live_golem.golem)
    before = HighWaterMark.objects.get(golem=live_golem.golem)
    assert before.violated_at is None
    monkeypatch.setattr(uniswap_positions, "MOST_NFTS", 2)
    monkeypatch.setattr(uniswap_positions, "STEP_OF_NEWEST", 1)
    bury(live_golem, under=3)
    lose(live_golem, "USDC")
    tick(live_golem.golem)
    status = read(live_golem, "wallet_get_status")
    assert any("more Uniswap V3 positions" in each for each in status["not_counted"])
    assert HighWaterMark.objects.get(golem=live_golem.golem).violated_at is not None
