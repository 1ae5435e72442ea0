"""Limit orders that sell claims, and that buy and sell yield tokens, on Pendle's real limit router."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.models import Golem
from archetypes_app.models.golem import Phase
from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.execute_change import execute_change
from permits_app.actions.follow_promises import follow_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.admin.promise_lines import list_promise_lines, say_amounts
from permits_app.models import ChangeRequest, OutboundTransaction, SignedPromise, SpendEntry, StandingAllowance
from tests.evm.world import CHAIN_ID
from tests.permits_app.approvals.people import approve, give_device
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.pendle.test_limit_orders import Maker, entry_of
from tests.tools_app.protocols.pendle.test_limit_orders import maker as maker
from tests.tools_app.protocols.pendle.test_market import forget_past
from tools_app.chain.feeds import PriceUnavailable
from tools_app.core import clock
from tools_app.protocols.pendle.promises import PendlePromises
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.typed_data import TypedData

WAD = 10**18
pytestmark = pytest.mark.protocols("pendle")


@dataclass(frozen=True)
class Trade:
    """One side of an order: what asks for it, a rate better than the market's, and how a stranger fills it."""

    side: str
    gives: str
    amount: int
    rate: str
    worse_rate: str
    tool: str = "pendle_place_limit_order"

    def sign(self, maker: Maker, **changes: Any) -> SignedPromise:
        """Approve what it gives and sign it."""
        maker.do(
            action_type="pendle_approve_limit_orders",
            market=maker.place.market,
            amount=str(self.amount),
            gives=self.gives,
        )
        return self.sign_more(maker, **changes)

    def sign_more(self, maker: Maker, **changes: Any) -> SignedPromise:
        status, permit = self.preview(maker, **changes)
        assert status == 200, permit
        if self.side == "buy_yt":
            agree(maker, permit["permit_id"])
        else:
            _, done = maker.ask("commit_action", permit_id=permit["permit_id"])
            assert done["status"] == "COMMITTED", done
        return SignedPromise.objects.get(permit_id=permit["permit_id"])

    def preview(self, maker: Maker, **changes: Any) -> tuple[int, dict[str, Any]]:
        body = {
            "action_type": self.tool,
            "venue": "pendle",
            "market": maker.place.market,
            "amount": str(self.amount),
            "implied_apy": self.rate,
        }
        if self.tool == "pendle_place_limit_order":
            body["side"] = self.side
        return maker.ask("preview_action", **{**body, **changes})

    def fill(self, maker: Maker, *rows: SignedPromise, **bounds: Any) -> bool:
        """A stranger trades more than the order through the router, into the order first."""
        taker = maker.taker
        if self.side == "buy_yt":
            return taker.sell_yields(1_200 * WAD, *rows, **bounds)
        return (taker.buy_yields if self.side == "sell_yt" else taker.buy)(1_000 * WAD, *rows, **bounds)

    def given(self, maker: Maker) -> int:
        """What the maker has of what the order gives."""
        return held(maker, {"asset": maker.place.asset, "pt": maker.place.pt, "yt": maker.place.yt}[self.gives])

    def got(self, maker: Maker) -> int:
        """What it has of what the order brings."""
        return held(maker, maker.place.yt if self.side == "buy_yt" else maker.place.asset)


TRADES = (
    Trade("sell_pt", "pt", 300 * WAD, "4.5", "6"),
    Trade("sell_yt", "yt", 1_000 * WAD, "5.5", "3.5"),
    Trade("buy_yt", "asset", 150 * WAD, "4.5", "7", tool="pendle_place_yt_bid"),
)
each_side = pytest.mark.parametrize("trade", TRADES, ids=[each.side for each in TRADES])


def held(maker: Maker, token: str) -> int:
    return int(maker.taker.world.rpc.balance_of(token, maker.live.golem.address))


def agree(maker: Maker, permit_id: str) -> None:
    """What may be lost whole waits for the owner, who approves it; then it is carried out."""
    request, person = ChangeRequest.objects.get(permit_id=permit_id), maker.live.owner
    if not TOTPDevice.objects.filter(user=person).exists():
        give_device(person)
    approve(request, person)
    execute_change(request_id=request.pk, now=clock.now())


@pytest.fixture
def owner(maker: Maker) -> Maker:
    """The same with 1,200 claims and 2,700 yield tokens that a stranger gave."""
    taker, to = maker.taker, maker.live.golem.address
    for token, amount in ((maker.place.pt, 1_200), (maker.place.yt, 2_700)):
        taker.world.transact(taker.account, token, "transfer(address,uint256)", to, amount * WAD)
    return maker


def least_of(row: SignedPromise) -> int:
    return int(row.permit.result["data"]["least_out"])


def wait(owner: Maker, seconds: int) -> None:
    owner.taker.world.rpc.call("evm_increaseTime", seconds)
    owner.taker.world.rpc.call("evm_mine")


@each_side
def test_it_is_signed_handed_in_and_filled_once_by_a_stranger_for_no_less_than_was_told(
    owner: Maker, trade: Trade
) -> None:
    row, sent = trade.sign(owner), OutboundTransaction.objects.count()
    assert row.handed_in_at is not None and owner.received[-1]["type"] == ["", "sell_pt", "buy_yt", "sell_yt"].index(
        trade.side
    )
    told = owner.told(row)
    assert (told["status"], told["side"], told["amount_in"]) == ("open", trade.side, str(trade.amount))
    assert entry_of(row).state == "RESERVED"
    gave, got = trade.given(owner), trade.got(owner)
    assert trade.fill(owner, row)
    assert gave - trade.given(owner) == trade.amount
    came = trade.got(owner) - got
    assert least_of(row) <= came <= least_of(row) * 1_006 // 1_000, "half a percent is for shares that lose some"
    assert (owner.told(row)["status"], owner.told(row)["left"]) == ("filled", "0")
    row = owner.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    assert trade.fill(owner, row), "who names it again trades with the market"
    assert (gave - trade.given(owner), trade.got(owner) - got) == (trade.amount, came), "an order is filled once"
    assert OutboundTransaction.objects.count() == sent, "nothing was sent for it"


@each_side
def test_of_one_that_is_filled_in_part_the_whole_stays_reserved_until_it_ends(owner: Maker, trade: Trade) -> None:
    row = trade.sign(owner)
    gave = trade.given(owner)
    assert trade.fill(owner, row, part=trade.amount // 3)
    assert gave - trade.given(owner) == trade.amount // 3
    assert (owner.told(row)["status"], owner.told(row)["filled"]) == ("partly_filled", str(trade.amount // 3))
    row = owner.follow(row)
    assert (row.state, entry_of(row).state) == ("OPEN", "RESERVED")
    owner.cancel(row)
    assert trade.fill(owner, row) and gave - trade.given(owner) == trade.amount // 3
    row = owner.follow(row)
    assert (owner.told(row)["status"], row.state, entry_of(row).state) == ("filled", "FILLED", "SETTLED")


@each_side
def test_one_that_is_taken_back_is_passed_over_and_only_a_bound_keeps_its_taker_from_a_worse_price(
    owner: Maker, trade: Trade
) -> None:
    # A maker who pays more, or asks less, than the market; the agent's own slippage lets it.
    row = trade.sign(owner, implied_apy={"sell_pt": "5.1", "sell_yt": "4.8", "buy_yt": "5.1"}[trade.side])
    owner.cancel(row)
    gave = trade.given(owner)
    order = least_of(row) * 1_000 // trade.amount
    # What the whole trade would bring at the order's price, in thousandths: more than any market gives.
    wanted = {"sell_pt": 1_000 * WAD * 1_010 // order, "sell_yt": 1_000 * WAD * 1_010 // max(1, order)}
    least = wanted.get(trade.side, 1_200 * WAD * 1_010 // order)
    assert not trade.fill(owner, row, least=least)
    assert trade.fill(owner, row), "unbounded it goes through, for what the market gives"
    assert trade.given(owner) == gave
    row = owner.follow(row)
    assert (row.state, entry_of(row).state, owner.told(row)["status"]) == ("CANCELLED", "RELEASED", "cancelled")


@each_side
def test_one_whose_time_is_over_is_expired_and_frees_what_it_held(owner: Maker, trade: Trade) -> None:
    row = trade.sign(owner, lasts_seconds=60)
    wait(owner, 200)
    gave = trade.given(owner)
    assert trade.fill(owner, row) and trade.given(owner) == gave
    assert owner.told(row)["status"] == "expired"
    now = clock.now() + timedelta(minutes=5)
    follow_promises(now=now)
    follow_promises(now=now + timedelta(minutes=2))
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")


def test_a_halt_takes_orders_of_every_side_back_with_what_the_limit_router_may_take(owner: Maker) -> None:
    rows = [trade.sign(owner) for trade in TRADES]
    assert StandingAllowance.objects.filter(spender=owner.place.limit_router).exclude(left="0").count() == 3
    golem = Golem.objects.get(pk=owner.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED"] * 3, step
    for trade, row in zip(TRADES, rows, strict=True):
        gave = trade.given(owner)
        assert trade.fill(owner, row) and trade.given(owner) == gave
        assert owner.follow(row).state == "CANCELLED"
    rpc = owner.taker.world.rpc
    for token in (owner.place.asset, owner.place.pt, owner.place.yt):
        asked = ("allowance(address,address)", owner.live.golem.address, owner.place.limit_router)
        assert rpc.read(token, *asked, returns="(uint256)")[0] == 0


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


@pytest.mark.parametrize("trade", TRADES[:2], ids=["sell_pt", "sell_yt"])
def test_shares_that_suddenly_bring_less_keep_one_that_sells_from_being_filled(owner: Maker, trade: Trade) -> None:
    row = trade.sign(owner)
    gave = trade.given(owner)
    deployer = derive_account("pendle deployer")
    owner.taker.world.transact(deployer, owner.place.sy, "setEarnings(uint256,uint256)", 0, 200)
    wait(owner, 1)
    assert not trade.fill(owner, row)
    assert trade.given(owner) == gave


def test_a_bid_for_yield_tokens_waits_for_its_owner_and_an_order_that_sells_does_not(owner: Maker) -> None:
    waits = {}
    for trade in TRADES:
        owner.do(
            action_type="pendle_approve_limit_orders",
            market=owner.place.market,
            amount=str(trade.amount),
            gives=trade.gives,
        )
        status, told = trade.preview(owner)
        assert status == 200, told
        waits[trade.side] = (told["status"] == "AWAITING_APPROVAL", told["risk_tier"])
    assert waits == {"sell_pt": (False, "STANDARD"), "sell_yt": (False, "STANDARD"), "buy_yt": (True, "HIGH")}


def test_no_order_is_signed_late_in_life_and_claims_are_sold_at_once_then(owner: Maker) -> None:
    Golem.objects.filter(pk=owner.live.golem.pk).update(phase=Phase.DEFENSIVE)
    asked = {"venue": "pendle", "market": owner.place.market, "amount": str(300 * WAD)}
    status, problem = owner.ask("preview_action", action_type="pendle_approve_limit_orders", gives="pt", **asked)
    assert (status, problem["code"]) == (403, "SAFETY_PHASE_BLOCKED")
    status, told = owner.ask("preview_action", action_type="pendle_sell_pt", **asked)
    assert status == 200, told


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
