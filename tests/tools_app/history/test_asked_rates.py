"""Lenders that log no rate are asked for it once an hour from when somebody wants it; what was before is not known."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, Overflow
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.history.followed import Followed
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.core.errors import GolemError
from tools_app.history import follower_positions
from tools_app.models import ChainLog, LogGap, LogSource
from tools_app.models.history import SourceKind
from tools_app.protocols.compound_v3.protocol import PROTOCOL as COMPOUND
from tools_app.protocols.moonwell.protocol import PROTOCOL as MOONWELL
from tools_app.protocols.morpho_blue.protocol import PROTOCOL as MORPHO
from tools_app.toolkit.lending import PPM, LendingMarket
from tools_app.toolkit.positions import Reads, drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef

pytestmark = [pytest.mark.django_db, pytest.mark.protocols("compound_v3", "moonwell", "morpho")]
USDC, ETH, HOUR = 10**6, 10**18, 3_600


@pytest.fixture(autouse=True)
def tools() -> None:
    load_registry()


def ask(followed: Followed, protocol: str, side: str = "supply", **params: Any) -> Any:
    ctx = make_context(followed.world, golem_id=followed.golem_id)
    asked = {"protocol": protocol, "token": "USDC", "side": side, "interval": "1h", **params}
    return answer_of(ctx, "data_get_rate_history", **asked)


def said_now(followed: Followed, protocol: ProtocolDef) -> LendingMarket:
    """What the lender itself says at the newest block: of several markets the one with most to lend."""
    reader = make_context(followed.world).chain()
    assert protocol.lending is not None
    offered = drive(protocol.lending.markets(CHAIN_ID, followed.world.tokens["USDC"].address), reader.call_many)
    return max(offered, key=lambda each: each.liquidity)


def pass_hour(followed: Followed, hours: int = 1) -> None:
    followed.world.rpc.call("evm_increaseTime", hours * HOUR)
    followed.mine(3)


def test_a_lender_is_asked_for_both_rates_once_an_hour_from_when_it_is_followed(followed: Followed) -> None:
    lenders = (COMPOUND, MOONWELL, MORPHO)
    for lender in lenders:
        for side in ("supply", "borrow"):
            first = ask(followed, lender.name.partition("_")[0], side)
            assert first["is_asked"] and first["past"]["is_followed"] and first["past"]["data_points"] == []
    followed.mine(2)
    followed.follow()
    assert not followed.fill(), "no log tells what was before"
    for lender in lenders:
        market = said_now(followed, lender)
        for side, ppm in (("supply", market.supply_ppm), ("borrow", market.borrow_ppm)):
            told = ask(followed, lender.name, side)
            assert told["market"] == market.market
            # Interest of a few blocks lies between the block that was asked and the newest.
            [point] = told["past"]["data_points"]
            assert abs(Decimal(point["value"]) - Decimal(ppm or 0) / 10**6) < Decimal("0.00001")
            assert told["past"]["gaps"] and not point["is_whole"]
    assert ChainLog.objects.count() == 6
    followed.mine(2)
    followed.follow()
    assert ChainLog.objects.count() == 6, "asked once in an hour"
    pass_hour(followed)
    followed.follow()
    assert ChainLog.objects.count() == 12
    assert len(ask(followed, "compound_v3")["past"]["data_points"]) == 2


def test_what_a_borrower_does_to_a_rate_is_seen_with_the_next_hour_and_what_was_before_stays_unknown(
    followed: Followed,
) -> None:
    ask(followed, "compound", "borrow")
    followed.mine(2)
    followed.follow()
    world = followed.world
    golem = Golem(world, COMPOUND, world.new_account(ETH, {"WETH": 100 * ETH}))
    golem.act("compound_v3_supply", market="USDC", asset="WETH", amount=str(100 * ETH))
    golem.act("compound_v3_borrow", market="USDC", amount=str(100_000 * USDC))
    pass_hour(followed)
    followed.follow()
    told = ask(followed, "compound", "borrow")["past"]
    before, after = (Decimal(each["value"]) for each in told["data_points"])
    assert before < after
    [gap] = told["gaps"]
    assert gap["since"] is None and gap["until"] == told["known_since"]
    assert LogGap.objects.get().closed_because == follower_positions.ASKED_ONLY


def test_what_was_asked_in_blocks_that_a_rollback_takes_is_taken_back_and_asked_anew(followed: Followed) -> None:
    ask(followed, "compound", "borrow")
    followed.mine(2)
    followed.follow()
    before = followed.world.rpc.call("evm_snapshot")
    pass_hour(followed)
    followed.follow()
    gone = ChainLog.objects.order_by("-block_number").first()
    assert gone is not None and ChainLog.objects.count() == 2
    followed.world.rpc.call("evm_revert", before)
    followed.world.rpc.call("evm_increaseTime", HOUR + 60)
    followed.mine(5)
    for _ in range(3):
        followed.follow()
    hashes = [bytes(each) for each in ChainLog.objects.values_list("block_hash", flat=True)]
    assert len(hashes) == 2 and bytes(gone.block_hash) not in hashes


def test_a_lender_that_does_not_answer_has_no_rate_in_that_hour_and_keeps_no_other_from_its_own(
    followed: Followed,
) -> None:
    ask(followed, "compound")
    ask(followed, "moonwell")
    comet = str(COMPOUND.address(CHAIN_ID, "comet_usdc"))
    code = followed.world.rpc.call("eth_getCode", comet, "latest")
    followed.world.rpc.call("anvil_setCode", comet, "0x60006000fd")
    followed.mine(3)
    followed.follow()
    kinds = {row.protocol: row.asked_at is not None for row in LogSource.objects.all()}
    assert kinds == {"compound_v3": True, "moonwell": True}, "neither is asked again in this hour"
    assert ChainLog.objects.count() == 1
    followed.world.rpc.call("anvil_setCode", comet, code)
    pass_hour(followed)
    followed.follow()
    assert len(ask(followed, "compound")["past"]["data_points"]) == 1
    assert len(ask(followed, "moonwell")["past"]["data_points"]) == 2


class Absurd:
    """A lender whose market says what it is told to say; None is more than a number holds."""

    def __init__(self, ppm: int | None) -> None:
        self.ppm = ppm

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        yield []
        if self.ppm is None:
            raise Overflow
        comet = str(COMPOUND.address(chain_id, "comet_usdc"))
        return (LendingMarket(COMPOUND.name, comet, "a lender", asset, self.ppm, None, 1, 0, 1),)


@pytest.mark.parametrize(
    ("ppm", "is_kept"), [(PPM * 2**64 - 1, True), (PPM * 2**64, False), (-1, False), (0, True), (None, False)]
)
def test_a_rate_beyond_any_year_is_none_and_the_other_lenders_have_theirs(
    followed: Followed, monkeypatch: pytest.MonkeyPatch, ppm: int | None, is_kept: bool
) -> None:
    ask(followed, "compound")
    ask(followed, "moonwell")
    absurd: Any = Absurd(ppm)
    monkeypatch.setitem(SHELF._by_name, COMPOUND.name, replace(COMPOUND, lending=absurd))
    followed.mine(2)
    assert followed.follow() > 0
    assert ChainLog.objects.count() == (2 if is_kept else 1)


def test_of_several_markets_one_is_named_and_another_name_is_refused(followed: Followed) -> None:
    market = said_now(followed, MORPHO).market
    named = ask(followed, "morpho", market=market)
    assert named["market"] == market
    source = LogSource.objects.get()
    assert (source.address, source.manager, source.kind) == (
        market,
        MORPHO.address(CHAIN_ID, MORPHO.entry),
        SourceKind.ASKED_RATE,
    )
    with pytest.raises(GolemError) as refused:
        ask(followed, "morpho", market="0x" + "00" * 32)
    assert refused.value.code == "NO_PAST_TOLD" and "0x0000" in refused.value.detail


def test_after_a_long_outage_no_rate_is_made_up_for_the_hours_between(followed: Followed, settings: Any) -> None:
    ask(followed, "compound")
    followed.mine(2)
    followed.follow()
    settings.GOLEM_HISTORY_MOST_BLOCKS_BEHIND = 5
    pass_hour(followed, hours=5)
    followed.mine(10)
    followed.follow()
    pass_hour(followed)
    followed.follow()
    assert not followed.fill()
    told = ask(followed, "compound")["past"]
    assert len(told["data_points"]) == 2 and len(told["gaps"]) == 2
