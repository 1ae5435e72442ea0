"""A token has left its peg exactly where its row says, by its feed, against a dollar or an ether."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.public_pegs import PUBLIC_PEGS, PegUnit
from tools_app.core.ratio import Ratio
from tools_app.portfolio import pegs
from tools_app.portfolio.pegs import OffPeg, Peg, by_reader, find_off_peg, list_pegs
from tools_app.toolkit.views import NATIVE

TOKEN = "0x" + "11" * 20


def make_peg(unit: PegUnit = PegUnit.DOLLAR, *, apart: int = 200, token: str = TOKEN) -> Peg:
    return Peg(CHAIN_ID, token, "ONE", unit, apart, "its maker")


def at(dollars: Ratio, *, ether: int = 3_000) -> tuple[OffPeg, ...]:
    prices = {TOKEN: dollars, NATIVE: Ratio(ether, 1)}
    return find_off_peg([make_peg()], prices.get)


@pytest.mark.parametrize(
    ("ten_thousandths", "is_off"), [(9_800, False), (9_799, True), (10_200, False), (10_201, True)]
)
def test_a_dollar_token_is_off_its_peg_beyond_what_is_allowed_and_not_at_it(ten_thousandths: int, is_off: bool) -> None:
    assert bool(at(Ratio(ten_thousandths, 10_000))) is is_off


def test_an_ether_token_is_held_against_the_coin_and_not_against_a_dollar() -> None:
    ether = make_peg(PegUnit.ETHER)
    prices = {TOKEN: Ratio(2_700, 1), NATIVE: Ratio(3_000, 1)}
    [off] = find_off_peg([ether], prices.get)
    assert off.words == ("ONE is worth 0.9000 of the ether it stands for, 10.00% below it; 2.00% is allowed")
    assert find_off_peg([ether], {TOKEN: Ratio(2_700, 1), NATIVE: Ratio(2_700, 1)}.get) == ()
    assert find_off_peg([ether], {TOKEN: Ratio(2_700, 1)}.get) == (), "where the coin has no price nothing is told"


def test_of_two_words_about_a_token_the_narrower_holds(monkeypatch: pytest.MonkeyPatch, chain: World) -> None:
    usdc = chain.tokens["USDC"].address
    golem_id = uuid4()
    for apart, holds in ((50, 50), (5_000, 200)):
        told = make_peg(apart=apart, token=usdc)
        monkeypatch.setattr(pegs._declared, "read", lambda asked, told=told: (told,) if asked == golem_id else ())
        assert list_pegs(CHAIN_ID, golem_id)[usdc].most_apart_bps == holds
        assert list_pegs(CHAIN_ID)[usdc].most_apart_bps == list_pegs(CHAIN_ID, uuid4())[usdc].most_apart_bps == 200
    elsewhere = Peg(10, TOKEN, "ONE", PegUnit.DOLLAR, 50, "its maker")
    monkeypatch.setattr(pegs._declared, "read", lambda asked: (elsewhere,))
    assert TOKEN not in list_pegs(CHAIN_ID, golem_id)


def test_the_known_pegs_are_those_of_registered_tokens_and_each_names_its_source() -> None:
    for network in KNOWN_NETWORKS.values():
        registered = {token.address: token.symbol for token in load_deployment(network).tokens}
        for address, peg in list_pegs(network.chain_id).items():
            assert PUBLIC_PEGS[registered[address]].source == peg.source
    assert all("." in each.source and each.most_apart_bps == 200 for each in PUBLIC_PEGS.values())
    assert {"USDC", "USDT", "DAI"} <= {peg.symbol for peg in list_pegs(1).values()}
    assert not any(peg.symbol in ("WBTC", "WETH") for peg in list_pegs(1).values())


def test_a_declared_token_without_a_feed_has_the_price_of_its_deepest_pool_and_others_have_none(chain: World) -> None:
    weth = chain.tokens["WETH"].address
    before = by_reader(make_context(chain).chain())(weth)
    chain.transact(chain.actors.deployer, chain.tokens["WETH"].feed, "setUpdatedAt(uint256)", 1)
    stale = make_context(chain).chain()
    assert by_reader(stale)(weth) is None
    by_pool = by_reader(stale, with_pools=[weth])(weth)
    assert by_pool is not None and before is not None
    assert by_pool.numerator / by_pool.denominator == pytest.approx(before.numerator / before.denominator, rel=0.02)
