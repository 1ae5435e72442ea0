"""What vaults, price feeds, lenders and issuers told is read from the index, with since when it is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from tests.evm.world import CHAIN_ID
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.history.followed import Followed
from tests.tools_app.protocols.aave_v3.desk import Desk
from tests.tools_app.protocols.lido import staking
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import event_topic
from tools_app.core.errors import GolemError
from tools_app.history import followed_contracts
from tools_app.history.bars import hour_of
from tools_app.history.index_reads import find_one, read_price_at
from tools_app.history.log_meanings import read_log
from tools_app.models import KnownPosition, LogSource, LogWish
from tools_app.models.history import BarSpan, PriceBar, SourceKind
from tools_app.portfolio.history_from_logs import MOST_POINTS
from tools_app.protocols.erc4626.addresses import known_vaults
from tools_app.protocols.erc4626.protocol import PROTOCOL as VAULTS
from tools_app.protocols.lido.protocol import PROTOCOL as LIDO
from tools_app.standards.aave_like.signatures import RATES_UPDATED, RAY
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.protocols("aave_v3", "erc4626", "lido")]
USDC, ETH = 10**6, 10**18
VAULT = known_vaults(CHAIN_ID)[0].address


@pytest.fixture(autouse=True)
def tools() -> None:
    load_registry()


def ask(followed: Followed, tool: str, **params: Any) -> Any:
    return answer_of(make_context(followed.world, golem_id=followed.golem_id), tool, **params)


def read_on(followed: Followed) -> None:
    """The index reads what is new, and all that lies before."""
    followed.mine(2)
    followed.follow()
    while followed.fill():
        pass


def test_asking_has_a_vault_followed_and_its_share_price_is_told_by_who_goes_in_and_out(followed: Followed) -> None:
    world = followed.world
    golem = Golem(world, VAULTS, world.new_account(ETH, {"USDC": 100_000 * USDC}))
    golem.act("vault_deposit", vault=VAULT, amount=str(10_500 * USDC))
    followed.mine(2)
    first = ask(followed, "vault_get_share_price_history", vault=VAULT)
    assert first["past"]["data_points"] == [] and first["past"]["known_since"] is None
    assert first["past"]["is_followed"] and "from now on" in first["past"]["reason"]
    wish = LogWish.objects.get(wanted_by=str(followed.golem_id))
    assert (wish.source.address, wish.source.kind) == (VAULT, SourceKind.VAULT)
    # The time between is not known before it is read.
    followed.follow()
    early = ask(followed, "vault_get_share_price_history", vault=VAULT)
    assert early["past"]["gaps"] and not any(point["is_whole"] for point in early["past"]["data_points"])
    donor = world.new_account(ETH, {"USDC": 1_000 * USDC})
    world.transact(donor, world.tokens["USDC"].address, "transfer(address,uint256)", VAULT, 1_000 * USDC)
    golem.act("vault_withdraw", vault=VAULT, shares=str(100 * USDC))
    read_on(followed)
    told = ask(followed, "vault_get_share_price_history", vault=VAULT, interval="1h")
    assert told["past"]["gaps"] == [] and told["past"]["reason"] is None
    [point] = told["past"]["data_points"][-1:]
    assert Decimal(point["value"]).quantize(Decimal("0.0001")) == Decimal(told["share_price"]).quantize(
        Decimal("0.0001")
    )
    assert Decimal(point["lowest"]) <= Decimal("1.05") < Decimal(point["highest"])
    assert not point["is_whole"], "its hour is not over"


def test_a_feeds_answers_are_told_as_it_gave_them_and_the_price_of_a_moment_is_the_one_before(
    followed: Followed,
) -> None:
    world, feed = followed.world, followed.world.tokens["WETH"].feed
    ask(followed, "data_get_feed_history", token="WETH")
    read_on(followed)
    answers = []
    for price in (2_900, 3_100, 3_000):
        receipt = world.transact(world.actors.deployer, feed, "setAnswer(int256)", price * 10**8)
        block = world.rpc.call("eth_getBlockByNumber", receipt["blockNumber"], False)
        answers.append(datetime.fromtimestamp(int(block["timestamp"], 16), UTC))
        world.rpc.call("evm_increaseTime", 60)
    read_on(followed)
    told = ask(followed, "data_get_feed_history", token="WETH", interval="1h")
    assert told["told_by"] == told["feed"] == feed and told["price_now"] == "3000"
    points = told["past"]["data_points"]
    assert points[-1]["value"] == "3000"
    assert min(Decimal(each["lowest"]) for each in points[-2:]) == 2_900
    assert max(Decimal(each["highest"]) for each in points[-2:]) == 3_100
    kept = find_one(CHAIN_ID, PoolId(feed), SourceKind.FEED)
    assert kept is not None
    between = read_price_at(kept, answers[1] - timedelta(seconds=1))
    assert between is not None and between.numerator // between.denominator == 2_900 * 10**8
    assert read_price_at(kept, kept.known_until + timedelta(seconds=1)) is None, "what is to come is not known"


def test_what_a_token_moved_in_a_day_is_told_of_its_feed_where_no_pool_tells_it(followed: Followed) -> None:
    """USDT trades against ether alone, so that its pool says nothing of dollars."""
    world, feed = followed.world, followed.world.tokens["USDT"].feed
    assert ask(followed, "data_get_token_price", token="USDT")["price_change_24h"] is None
    ask(followed, "data_get_feed_history", token="USDT")
    world.transact(world.actors.deployer, feed, "setAnswer(int256)", 99 * 10**6)
    followed.mine()
    world.rpc.call("evm_increaseTime", 86_500)
    world.transact(world.actors.deployer, feed, "setAnswer(int256)", 10**8)
    read_on(followed)
    told = ask(followed, "data_get_token_price", token="USDT")
    assert told["price_change_24h"] == "1.0101" and "feed" in told["price_change_reason"]
    world.transact(world.actors.deployer, feed, "setAnswer(int256)", 98 * 10**6)
    assert ask(followed, "data_get_token_price", token="USDT")["price_change_24h"] == "-1.0101"


def test_a_lenders_rate_is_told_whenever_it_changed_and_of_that_market_alone(followed: Followed) -> None:
    world = followed.world
    desk = Desk(world, world.new_account(10 * ETH, {"USDC": 100_000 * USDC, "WETH": 50 * ETH}))
    ask(followed, "data_get_rate_history", protocol="aave", token="USDC")
    ask(followed, "data_get_rate_history", protocol="aave_v3", token="WETH")
    read_on(followed)
    desk.do("aave_supply", asset="WETH", amount=str(20 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(20_000 * USDC))
    read_on(followed)
    told = ask(followed, "data_get_rate_history", protocol="aave_v3", token="USDC", interval="1h")
    assert told["is_simulated"] is False and "a year" in told["meaning"]
    now = desk.ask("aave_get_rates", asset="USDC")
    # The pool compounds by the second, what it logs does not.
    compounded = (Decimal(told["past"]["data_points"][-1]["value"]).exp() - 1) * 100
    assert abs(compounded - Decimal(now["supply_apy"])) < Decimal("0.0002")
    ether = ask(followed, "data_get_rate_history", protocol="aave_v3", token="WETH", interval="1h")
    assert ether["past"]["data_points"][-1]["value"] != told["past"]["data_points"][-1]["value"]


def test_what_borrowing_cost_is_told_by_the_same_logs_beside_what_supplying_paid(followed: Followed) -> None:
    desk = Desk(followed.world, followed.world.new_account(10 * ETH, {"WETH": 50 * ETH}))
    for side in ("supply", "borrow"):
        ask(followed, "data_get_rate_history", protocol="aave_v3", token="USDC", side=side)
    assert LogSource.objects.count() == 2
    read_on(followed)
    desk.do("aave_supply", asset="WETH", amount=str(20 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(20_000 * USDC))
    read_on(followed)
    now = desk.ask("aave_get_rates", asset="USDC")
    last = {}
    for side in ("supply", "borrow"):
        told = ask(followed, "data_get_rate_history", protocol="aave_v3", token="USDC", side=side, interval="1h")
        assert (told["side"], told["is_asked"], told["past"]["gaps"]) == (side, False, [])
        last[side] = (Decimal(told["past"]["data_points"][-1]["value"]).exp() - 1) * 100
    assert abs(last["supply"] - Decimal(now["supply_apy"])) < Decimal("0.0002")
    assert abs(last["borrow"] - Decimal(now["variable_borrow_apy"])) < Decimal("0.0002") < last["borrow"]
    assert last["supply"] < last["borrow"]


def test_who_tells_no_rate_is_refused_with_who_does(followed: Followed) -> None:
    with pytest.raises(GolemError) as refused:
        ask(followed, "data_get_rate_history", protocol="uniswap", token="USDC")
    assert refused.value.code == "NO_PAST_TOLD"
    assert {"aave_v3", "lido"} <= set(refused.value.data["choices"])


def test_the_rates_of_a_position_of_its_own_are_followed_and_told_without_asking_the_node_for_the_past(
    followed: Followed,
) -> None:
    world = followed.world
    staker = world.new_account(100 * ETH)
    staking.act(world, staker, "lido_stake", amount=str(20 * ETH))
    staking.report(world, earned=10**17)
    steth = staking.at("steth")
    KnownPosition.objects.create(
        chain_id=CHAIN_ID,
        account=staker.address,
        ref=str(PositionRef(LIDO.name, "steth", CHAIN_ID, staker.address)),
        first_seen=followed.now,
        last_seen=followed.now,
        is_own=True,
    )
    followed_contracts.renew_all(now=followed.now)
    assert LogSource.objects.get(address=steth).kind == SourceKind.RATE
    read_on(followed)
    before = ask(followed, "lido_get_rates")
    staking.report(world, earned=2 * 10**17)
    told = ask(followed, "lido_get_rates")
    assert told["share_rate"] != before["share_rate"], "the newest blocks are asked of the node"
    assert told == _ask_without_index(followed, "lido_get_rates")
    history = ask(followed, "data_get_rate_history", protocol="lido", token=steth, interval="1h")
    read_on(followed)
    history = ask(followed, "data_get_rate_history", protocol="lido", token=steth, interval="1h")
    assert Decimal(history["past"]["data_points"][-1]["value"]) > 1 and history["is_simulated"]


def _ask_without_index(followed: Followed, tool: str) -> Any:
    LogSource.objects.all().delete()
    return ask(followed, tool)


def test_weeks_begin_on_monday_and_hold_what_their_days_told(followed: Followed) -> None:
    feed = followed.world.tokens["WETH"].feed
    ask(followed, "data_get_feed_history", token="WETH")
    read_on(followed)
    source = LogSource.objects.get(address=feed)
    PriceBar.objects.filter(source=source).delete()
    monday = hour_of(followed.now).replace(hour=0) - timedelta(days=followed.now.weekday() + 14)
    for day, low, high, last in ((0, 5, 9, 7), (6, 4, 8, 6), (7, 1, 2, 2)):
        prices = {name: each * 2**192 * 10**8 for name, each in (("low_x192", low), ("high_x192", high))}
        PriceBar.objects.create(
            source=source,
            span=BarSpan.DAY,
            starts_at=monday + timedelta(days=day),
            open_x192=low * 2**192 * 10**8,
            close_x192=last * 2**192 * 10**8,
            in0=0,
            in1=0,
            trades=0,
            **prices,
        )
    told = ask(followed, "data_get_feed_history", token="WETH", interval="1w")["past"]["data_points"]
    assert [(each["timestamp"], each["value"], each["lowest"], each["highest"]) for each in told] == [
        (monday.isoformat(), "6", "4", "9"),
        ((monday + timedelta(days=7)).isoformat(), "2", "1", "2"),
    ]


def test_what_one_golem_has_followed_by_asking_leaves_room_for_others(followed: Followed, settings: Any) -> None:
    settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM = 1
    assert ask(followed, "vault_get_share_price_history", vault=VAULT)["past"]["is_followed"]
    full = ask(followed, "data_get_feed_history", token="WETH")["past"]
    assert not full["is_followed"] and "full" in full["reason"]
    followed.golem_id = uuid4()
    assert ask(followed, "data_get_feed_history", token="WETH")["past"]["is_followed"], "another golem has room"


def test_two_hundred_points_are_told_and_that_there_were_more_is_said(followed: Followed) -> None:
    ask(followed, "data_get_feed_history", token="WETH")
    read_on(followed)
    source = LogSource.objects.get(address=followed.world.tokens["WETH"].feed)
    PriceBar.objects.filter(source=source).delete()
    newest = hour_of(followed.now) - timedelta(hours=2)
    for count, is_cut in ((MOST_POINTS, False), (1, True)):
        rows = PriceBar.objects.count()
        prices = {f"{name}_x192": 2**192 for name in ("open", "high", "low", "close")}
        PriceBar.objects.bulk_create(
            PriceBar(
                source=source,
                span=BarSpan.HOUR,
                starts_at=newest - timedelta(hours=rows + number),
                in0=0,
                in1=0,
                trades=0,
                **prices,
            )
            for number in range(count)
        )
        past = ask(followed, "data_get_feed_history", token="WETH", interval="1h")["past"]
        assert (len(past["data_points"]), past["is_cut"]) == (MOST_POINTS, is_cut)
        assert past["data_points"][-1]["timestamp"] == newest.isoformat(), "the newest stay"


def test_a_rate_of_more_than_a_column_holds_is_no_rate() -> None:
    def log(rate: int) -> LogEntry:
        topics = (event_topic(RATES_UPDATED), "0x" + "00" * 12 + "11" * 20)
        data = "0x" + f"{rate:064x}" + "00" * 32 * 4
        return LogEntry(VAULT, topics, data, 1, "0x" + "22" * 32, 0)

    most = RAY * (2**64)
    assert read_log(CHAIN_ID, SourceKind.RATE, log(most)).price_x192 is None
    assert read_log(CHAIN_ID, SourceKind.RATE, log(most - 1)).price_x192 is not None
