"""What claims count as, from the market's own memory to the position's figure, against decimals with sixty places."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.pendle.seeded_markets import SEED, STATES
from tests.tools_app.protocols.pendle.test_market import MARKET
from tools_app.protocols.pendle.addresses import find_places
from tools_app.protocols.pendle.market_maths import WAD, YEAR_SECONDS
from tools_app.protocols.pendle.market_state import Standing, ask_standings, read_standing
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.positions import drive

MOST_BPS = Decimal(5)
ON_CHAIN = 60
(PLACE,) = find_places(CHAIN_ID)


def exact(ln_rate: Decimal, seconds: int, share: int, index: int, claims: int) -> Decimal:
    """What they are worth at a yearly rate so long before they are due, where shares may have lost."""
    kept = min(Decimal(1), Decimal(share) / Decimal(index))
    price = (-(ln_rate / WAD) * Decimal(max(0, seconds)) / YEAR_SECONDS).exp()
    return claims * kept * min(Decimal(1), price)


def off_bps(found: int, wanted: Decimal) -> Decimal:
    return 10_000 * abs(Decimal(found) / wanted - 1)


def standing_of(chance: random.Random) -> tuple[Standing, Decimal]:
    """A market as its contracts answer, drawn, and the average rate behind the oracle's word."""
    now = 1_795_000_000
    seconds, index = chance.randrange(-86_400, 3 * YEAR_SECONDS), chance.randrange(WAD, 2 * WAD)
    # Shares that lost are worth less than what claims are counted in.
    share = index if chance.random() < 0.7 else index * chance.randrange(4_000, 10_000) // 10_000
    old, last = (chance.randrange(10**15, 4 * 10**17) for _ in range(2))
    since = chance.randrange(1, AVERAGE_SECONDS)
    average = Decimal(old * (AVERAGE_SECONDS - since) + last * since) / AVERAGE_SECONDS
    with localcontext() as context:
        context.prec = 60
        rate = int(exact(average, seconds, share, index, WAD))
    state = (10**24, 10**24, 10**24, "0x" + "00" * 20, 50 * WAD, now + seconds, 10**15, 80, last)
    named = ((PLACE.sy, PLACE.pt, PLACE.yt), (True,), (0, PLACE.asset, PLACE.decimals))
    own = (*((0,),) * 4, (0, 0), (False,))
    told: tuple[tuple[Any, ...], ...] = (
        *((state,), (now,), (share,), (index,), (0, 0, [], []), (0,)),
        *named,
        *own,
        *((rate,), (rate,), ([0],)),
    )
    outcomes = [ReadOutcome(ok=True, values=each, revert_reason=None) for each in told]
    return read_standing(PLACE, outcomes), average


def test_what_claims_count_as_is_within_five_basis_points_of_an_independent_computation_over_a_thousand_states() -> (
    None
):
    chance, worst = random.Random(SEED), Decimal(0)
    with localcontext() as context:
        context.prec = 60
        for _ in range(STATES):
            standing, average = standing_of(chance)
            claims = chance.randrange(10**15, 10**25)
            market = standing.market
            wanted = exact(average, market.expiry - market.now, standing.share_rate, market.index, claims)
            found = standing.worth_of_claims(PLACE, claims)
            assert found <= claims * standing.face // WAD, "never more than what it is due"
            worst = max(worst, off_bps(found, wanted))
    assert worst < MOST_BPS


@pytest.mark.protocols("pendle")
def test_the_market_s_own_oracle_tells_the_average_of_what_it_remembers_and_claims_count_as_that(chain: World) -> None:
    """Its memory is written, its real code reads it, and the position says what comes of it."""
    types = "(int128,int128,uint96,uint16,uint16,uint16)"
    _, _, rate, index, kept, wanted = chain.rpc.read(MARKET, "_storage()", returns=types)
    word = rate | index << 96 | kept << 112 | wanted << 128
    slot = next(
        each for each in range(64) if int(chain.rpc.call("eth_getStorageAt", MARKET, hex(each), "latest"), 16) == word
    )
    chance, account = random.Random(SEED), chain.new_account(WAD)
    with localcontext() as context:
        context.prec = 60
        for _ in range(ON_CHAIN):
            # Two looks that it remembers: one long ago, and one within the quarter of an hour.
            old, last = (chance.randrange(10**15, 3 * 10**17) for _ in range(2))
            ago, began = chance.randrange(1, 890), chain.timestamp() - 5_000
            second = chain.timestamp() - ago
            words = {
                slot: last | 1 << 96 | 2 << 112 | 2 << 128,
                slot + 1: began | 1 << 248,
                slot + 2: second | old * (second - began) << 32 | 1 << 248,
            }
            for each, value in words.items():
                chain.rpc.call("anvil_setStorageAt", MARKET, hex(each), f"0x{value:064x}")
            chain.rpc.call("evm_mine")
            reader = make_context(chain, address=account.address).chain()
            standing = drive(ask_standings(CHAIN_ID, (PLACE,), account.address), reader.call_many)[0]
            market = standing.market
            since = market.now - second
            average = Decimal(old * (AVERAGE_SECONDS - since) + last * since) / AVERAGE_SECONDS
            claims = chance.randrange(10**18, 10**24)
            right = exact(average, market.expiry - market.now, standing.share_rate, market.index, claims)
            assert off_bps(standing.worth_of_claims(PLACE, claims), right) < MOST_BPS
