"""Markets that the operator named: found by the factories' word, counted once and left by every way; no others are."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from golem_project.settings.named_places import _read_places
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tests.tools_app.protocols.pendle.next_market import WAD, create_next_market, name_market
from tests.tools_app.protocols.pendle.test_market import Trader, pass_time, refused
from tools_app.apps import load_registry
from tools_app.protocols.pendle.addresses import NAME, find_places, read_place
from tools_app.protocols.pendle.errors import PendleMarketNotFound
from tools_app.protocols.pendle.naming import ask_market
from tools_app.protocols.pendle.protocol import PROTOCOL
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.protocol import SHELF

pytestmark = pytest.mark.protocols("pendle")
DAY = 86_400
QUARTER = 901


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Trader(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 50_000 * WAD}))


def test_a_market_that_nobody_named_is_refused_with_what_the_chain_says_of_it(chain: World, golem: Golem) -> None:
    (place,) = find_places(CHAIN_ID)
    market = create_next_market(chain, place)
    error = refused(golem, "pendle_buy_pt", market=market, amount=str(WAD))
    assert error.code == "PENDLE_MARKET_NOT_FOUND" and error.data["markets"] == [place.market]
    assert "nobody named it to this server" in error.detail and "2031-12-31" in error.detail
    nothing = refused(golem, "pendle_buy_pt", market="0x" + "11" * 20, amount=str(WAD))
    assert "no factory of Pendle made a market there" in nothing.detail


def test_a_named_market_is_traded_counted_and_left_like_any_other(
    chain: World, golem: Golem, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = find_places(CHAIN_ID)
    named = name_market(chain, create_next_market(chain, first), monkeypatch)
    assert find_places(CHAIN_ID) == (first, named) and named.symbols.pt.startswith("PT-")
    pass_time(chain, QUARTER)
    rows = answer_of(make_context(chain, address=golem.address), "pendle_get_markets")["markets"]
    assert [row["address"] for row in rows] == [first.market, named.market]
    for market in (first.market, named.market):
        golem.act("pendle_buy_pt", market=market, amount=str(3_000 * WAD))
        golem.act("pendle_buy_yt", market=market, amount=str(200 * WAD))
    assert [each.ref.id for each in golem.positions()] == [first.market, named.market]
    shelf = SHELF.get(NAME)
    assert shelf is not None
    owned = {address for address, each in SHELF.contracts_on(CHAIN_ID) if each.is_token}
    assert {named.market, named.pt, named.yt} <= owned and shelf.owns(CHAIN_ID, named.pt)
    used = golem.leave([chain.tokens["DAI"].address])
    assert used.count("pendle_sell_pt") == used.count("pendle_sell_yt") == 2
    dai = chain.tokens["DAI"].address
    assert sum(each.raw_of(dai) for each in golem.positions()) < WAD // 10


def test_shares_in_a_wallet_are_counted_at_one_market_of_their_yield_and_interest_is_claimed_from_each(
    chain: World, golem: Golem, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = find_places(CHAIN_ID)
    named = name_market(chain, create_next_market(chain, first), monkeypatch)
    pass_time(chain, QUARTER)
    dai = chain.tokens["DAI"].address
    golem.act("pendle_buy_yt", market=named.market, amount=str(500 * WAD))
    giver = chain.new_account(WAD, {"DAI": 1_000 * WAD})
    chain.transact(giver, dai, "approve(address,uint256)", first.sy, 1_000 * WAD)
    deposit = "deposit(address,address,uint256,uint256)"
    chain.transact(giver, first.sy, deposit, golem.address, dai, 1_000 * WAD, 0)
    shared = {each.ref.id: each for each in golem.positions()}
    assert int(shared[first.market].facts["sy"]) > 0 == int(shared[named.market].facts["sy"])
    assert 999 * WAD < sum(each.raw_of(dai) for each in shared.values()) < 1_001 * WAD
    pass_time(chain, 30 * DAY)
    came = golem.act("pendle_redeem", pt=named.pt, amount="max", claim=True).deltas[dai]
    assert WAD < came < 100 * WAD
    came = golem.act("pendle_redeem", pt=first.pt, amount="max", claim=True).deltas[dai]
    assert came > 999 * WAD


def test_a_market_that_is_other_than_it_was_named_stops_every_reading_of_it(
    chain: World, golem: Golem, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = find_places(CHAIN_ID)
    named = name_market(chain, create_next_market(chain, first), monkeypatch)
    chain.rpc.call("anvil_setCode", named.market_factory, "0x60006000fd")
    with pytest.raises(PositionsUnreadable, match="another market"):
        golem.positions()


def test_what_cannot_be_counted_cannot_be_named(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = find_places(CHAIN_ID)
    reader = make_context(chain).chain()
    for address, why in (
        (first.market, "known here already"),
        (first.sy, "no factory of Pendle made a market there"),
    ):
        with pytest.raises(PendleMarketNotFound, match=why):
            ask_market(reader, address)
    text = ask_market(make_context(chain).chain(), create_next_market(chain, first)).text
    for broken in (
        text + "/more",
        text.replace("_v1", "_v9"),
        text.replace("/18/", "/99/"),
        "x" + text,
        text[:-1] + "!",
    ):
        with pytest.raises(ValueError, match="pendle|Pendle|claims"):
            read_place(CHAIN_ID, broken, beside=[])
    with pytest.raises(ValueError, match="counted twice"):
        read_place(CHAIN_ID, text, beside=[read_place(CHAIN_ID, text, beside=[])])


def test_the_command_writes_the_line_by_which_a_server_knows_a_market(chain: World) -> None:
    (first,) = find_places(CHAIN_ID)
    market, out, told = create_next_market(chain, first), io.StringIO(), io.StringIO()
    call_command("name_place", "pendle", str(CHAIN_ID), market.lower(), stdout=out, stderr=told)
    name, _, line = out.getvalue().strip().partition("=")
    ((key, (text,)),) = _read_places(line).items()
    assert (name, key) == ("GOLEM_NAMED_PLACES", (NAME, CHAIN_ID))
    assert read_place(CHAIN_ID, text, beside=[first]).market == market
    assert f"the yield below it is {first.sy}" in told.getvalue()
    with pytest.raises(CommandError, match="known here already"):
        call_command("name_place", "pendle", str(CHAIN_ID), first.market)
