"""SushiBar from its own code: what shares stand for, whom a gift serves, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.chain.abi import encode_call
from tools_app.core.errors import InsufficientBalance
from tools_app.protocols.sushi_bar import tools  # noqa: F401  declares the tools
from tools_app.protocols.sushi_bar.addresses import CHAINS, deployments, find_place
from tools_app.protocols.sushi_bar.math import Bar
from tools_app.protocols.sushi_bar.protocol import PROTOCOL
from tools_app.standards.erc4626 import SharePriceUnsafe, SharesMissing
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act

WAD = 10**18
AMOUNTS = st.integers(1, 10**27)


@pytest.fixture
def golem(chain: World) -> Golem:
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 20_000 * WAD}))


def give(chain: World, amount: int) -> None:
    """Somebody leaves a gift in the bar, as SushiSwap's fees come in."""
    giver = chain.new_account(WAD, {"DAI": amount})
    bar = (deployments(CHAIN_ID) or {})["bar"]
    chain.transact(giver, chain.tokens["DAI"].address, "transfer(address,uint256)", bar, amount)


@pytest.mark.protocols("sushi_bar")
def test_the_world_and_the_product_agree_on_the_address(chain: World) -> None:
    assert chain.protocols["sushi_bar"] == deployments(CHAIN_ID)
    place = find_place(CHAIN_ID)
    assert place is not None and place.token == chain.tokens["DAI"].address


@pytest.mark.protocols("sushi_bar")
def test_what_is_put_in_comes_back_with_a_part_of_what_was_earned(chain: World, golem: Golem) -> None:
    golem.act("sushi_bar_enter", amount=str(10_500 * WAD))
    (position,) = golem.positions()
    assert position.raw_of(chain.tokens["DAI"].address) in range(10_500 * WAD - 2, 10_500 * WAD + 1)
    give(chain, 10_605 * WAD)
    assert PROTOCOL.exits is not None
    (position,) = golem.positions()
    step = PROTOCOL.exits.next_step(position, {}, chain.timestamp())
    assert isinstance(step, Act) and step.tool == "sushi_bar_leave"
    left = golem.act("sushi_bar_leave", shares="max")
    # A hundred and first part of the bar is the golem's, and of the gift.
    assert left.deltas[chain.tokens["DAI"].address] in range(10_605 * WAD - 10, 10_605 * WAD + 1)
    assert golem.positions() == ()


@pytest.mark.protocols("sushi_bar")
def test_a_part_of_what_was_earned_is_told_of_what_is_held(chain: World, golem: Golem) -> None:
    golem.act("sushi_bar_enter", amount=str(10_500 * WAD))
    give(chain, 10_605 * WAD)
    told = answer_of(make_context(chain, address=golem.address), "sushi_bar_get_position")
    assert told["shares"] == str(10_000 * WAD) and told["share_of_bar_bps"] == 99
    assert int(told["worth"]) in range(10_605 * WAD - 10, 10_605 * WAD + 1)


@pytest.mark.protocols("sushi_bar")
def test_what_is_not_there_is_refused(golem: Golem) -> None:
    with pytest.raises(SharesMissing):
        golem.plan("sushi_bar_leave", shares="max")
    with pytest.raises(InsufficientBalance):
        golem.plan("sushi_bar_enter", amount=str(20_001 * WAD))
    with pytest.raises(SharePriceUnsafe):
        golem.plan("sushi_bar_enter", amount="1")


@pytest.mark.protocols("sushi_bar")
def test_foreign_bytes_are_a_veto(chain: World, golem: Golem) -> None:
    bar = (deployments(CHAIN_ID) or {})["bar"]
    reader = make_context(chain, address=golem.address).chain()
    assert PROTOCOL.effects is not None
    for data, value in (
        (encode_call("function enter(uint256)", 5) + b"\0", 0),
        (encode_call("function enter(uint256)", 5), 1),
        (encode_call("function leave(uint256)", 10**30), 0),
        (encode_call("function transfer(address,uint256)", "0x" + "66" * 20, 5), 0),
    ):
        with pytest.raises(UnknownCall):
            call = Call(bar, data, value, "")
            PROTOCOL.effects.read(call, earlier=(), account=golem.address, chain=reader, into=Effects())


@given(shares=AMOUNTS, inside=AMOUNTS, amount=AMOUNTS)
def test_no_entry_and_no_exit_lowers_what_a_share_of_others_gives(shares: int, inside: int, amount: int) -> None:
    bar = Bar(shares, inside, 0)
    after = bar.after_entry(amount)
    assert Fraction(after.inside, after.shares) >= Fraction(inside, shares)
    assert after.worth_of(after.held) <= amount
    left = after.after_leaving(after.held)
    assert left.inside >= inside and left.shares == shares


def test_the_public_chain_is_that_of_its_makers_list() -> None:
    assert CHAINS == {1, CHAIN_ID}
    place = find_place(1)
    assert place is not None
    assert (place.bar, place.token) == (
        "0x8798249c2E607446EfB7Ad49eC89dD1865Ff4272",
        "0x6B3595068778DD592e39A122f4f5a5cF09C90fE2",
    )
