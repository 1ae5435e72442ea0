"""What limit orders of each side give: at what price it counts, how it is told, and that every word of them is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.models import SignedPromise, SpendEntry, StandingAllowance
from permits_app.pages.promise_lines import list_promise_lines, say_amounts
from tests.evm.world import CHAIN_ID
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.pendle.sides import TRADES, Trade, each_side
from tests.tools_app.protocols.pendle.sides import maker as maker
from tests.tools_app.protocols.pendle.sides import owner as owner
from tests.tools_app.protocols.pendle.test_limit_orders import Maker
from tests.tools_app.protocols.pendle.test_market import forget_past
from tools_app.chain.feeds import PriceUnavailable
from tools_app.core import clock
from tools_app.protocols.pendle.promises import PendlePromises
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.typed_data import TypedData

WAD = 10**18
pytestmark = pytest.mark.protocols("pendle")


@pytest.mark.parametrize("trade", TRADES[:2], ids=["sell_pt", "sell_yt"])
def test_what_may_be_taken_of_it_and_what_is_promised_count_at_the_average_of_fifteen_minutes(
    owner: Maker, trade: Trade
) -> None:
    row = trade.sign(owner)
    place, rpc = owner.place, owner.taker.world.rpc
    rate = int(rpc.read(place.oracle, "getPtToAssetRate(address,uint32)", place.market, 900, returns="(uint256)")[0])
    one = rate if trade.gives == "pt" else WAD - rate
    worth = trade.amount * one // WAD // 10**12
    left = StandingAllowance.objects.get(spender=place.limit_router, token=place.pt if one == rate else place.yt)
    assert (left.left, left.symbol[:2]) == (str(trade.amount), trade.gives.upper())
    reserved = int(SpendEntry.objects.get(permit_id=row.permit_id).reserved_micro_usd)
    assert abs(left.worth_micro_usd - worth) * 1_000 <= worth
    assert worth * 999 <= reserved * 1_000 <= worth * 1_011, "a claim counts with the hundredth that it may move"


def test_what_it_gives_and_what_comes_is_told_on_the_golem_s_page(owner: Maker) -> None:
    told = {}
    for trade in TRADES:
        row = trade.sign(owner)
        [line] = [each for each in list_promise_lines(owner.live.golem, now=clock.now()) if each.row.pk == row.pk]
        told[trade.side] = (line.gives, line.gets)
    assert told["sell_pt"][0].startswith("a position that counts as ") and told["sell_pt"][0].endswith(" DAI")
    assert told["sell_pt"][1].endswith(" DAI") and "position" not in told["sell_pt"][1]
    assert told["sell_yt"][0].endswith("base units of Pendle YT of DAI") and told["sell_yt"][1].endswith(" DAI")
    assert told["buy_yt"][0] == "150 DAI" and told["buy_yt"][1].endswith("base units of Pendle YT of DAI")


@each_side
def test_a_worse_rate_than_the_slippage_lets_and_more_than_is_held_are_refused(owner: Maker, trade: Trade) -> None:
    status, problem = trade.preview(owner)
    assert (status, problem["code"]) == (422, "PENDLE_ORDER_NEEDS_APPROVAL"), problem
    assert problem["next"]["gives"] == trade.gives
    status, permit = owner.ask("preview_action", **problem["next"])
    assert status == 200, permit
    _, done = owner.ask("commit_action", permit_id=permit["permit_id"])
    assert done["status"] == "COMMITTED" and trade.preview(owner)[0] == 200
    assert trade.preview(owner, implied_apy=trade.worse_rate)[1]["code"] == "PENDLE_SLIPPAGE_TOO_HIGH"
    lacks = "INSUFFICIENT_BALANCE" if trade.gives == "asset" else "PENDLE_TOKENS_MISSING"
    assert trade.preview(owner, amount=str(10**27))[1]["code"] == lacks
    assert not SignedPromise.objects.exists()


@each_side
def test_every_word_of_it_is_read_and_none_may_be_another(owner: Maker, trade: Trade) -> None:
    typed = TypedData.of_json(trade.sign(owner).typed_data)
    account, stranger = str(owner.live.golem.address), "0x" + "55" * 20
    chain = make_context(owner.taker.world, address=account).chain()
    message = typed.message
    base = Effects()
    PendlePromises().read(typed, account=account, chain=chain, into=base)
    wrong = {
        "salt": message["salt"] + 1,
        "nonce": message["nonce"] + 1,
        "expiry": 2**63,
        "orderType": 4,
        "token": stranger,
        "YT": stranger,
        "maker": stranger,
        "receiver": stranger,
        "failSafeRate": message["failSafeRate"] * 99 // 100,
        "permit": "0x01",
    }
    # An order that says that it was made in an hour would bring more than it does now.
    later = message["salt"] + 3_600 * 10**6 * 12_421
    for name, value in [*wrong.items(), ("salt", later)]:
        with pytest.raises(UnknownCall):
            changed = replace(typed, message={**message, name: value})
            PendlePromises().read(changed, account=account, chain=chain, into=Effects())
    for name in ("makingAmount", "lnImpliedRate", "expiry"):
        into = Effects()
        changed = replace(typed, message={**message, name: message[name] * 9 // 10})
        PendlePromises().read(changed, account=account, chain=chain, into=into)
        facts = [(each.spends, each.receives, each.statements, each.deadlines) for each in (into, base)]
        assert facts[0] != facts[1], name


def test_without_an_average_nothing_that_is_given_has_a_price(owner: Maker) -> None:
    chain = make_context(owner.taker.world, address=str(owner.live.golem.address)).chain()
    price, dai = (chain.price(chain.token(each)) for each in (owner.place.pt, owner.place.asset))
    assert 0 < price.answer < dai.answer and price.feed == dai.feed
    forget_past(owner.taker.world)
    chain = make_context(owner.taker.world, address=str(owner.live.golem.address)).chain()
    with pytest.raises(PriceUnavailable):
        chain.price(chain.token(owner.place.pt))


def test_when_a_yield_loses_a_claim_and_a_yield_token_cost_what_is_left_of_their_face(owner: Maker) -> None:
    def prices() -> tuple[int, int, int]:
        chain = make_context(owner.taker.world, address=str(owner.live.golem.address)).chain()
        pt, yt, dai = (chain.price(chain.token(each)) for each in (owner.place.pt, owner.place.yt, owner.place.asset))
        return pt.answer, yt.answer, dai.answer

    pt, yt, dai = prices()
    assert abs(pt + yt - dai) <= 2
    owner.taker.world.transact(
        derive_account("pendle deployer"), owner.place.sy, "setEarnings(uint256,uint256)", 0, 5_000
    )
    fallen_pt, fallen_yt, _ = prices()
    assert abs(fallen_pt + fallen_yt - dai // 2) * 1_000 <= dai and fallen_pt < pt and fallen_yt < yt


def test_an_amount_of_a_token_that_nobody_registered_is_told_in_base_units() -> None:
    amount = {"token": "0x" + "55" * 20, "raw": "1234567"}
    assert say_amounts(CHAIN_ID, [amount]) == "1,234,567 base units of 0x555555…"
