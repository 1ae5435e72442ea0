"""Limit orders on Pendle's real limit router: signed once, filled whole or in parts, taken back, expired, or never."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import OutboundTransaction, SignedPromise, SpendEntry
from permits_app.pages.promise_lines import list_promise_lines
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.stand_in import serve_stand_in
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.pendle.taker import Taker, make_taker
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import clock
from tools_app.protocols.pendle.addresses import NAME, Place
from tools_app.protocols.pendle.limit_orders import order_values
from tools_app.protocols.pendle.promises import PendlePromises
from tools_app.protocols.pendle.protocol import PROTOCOL
from tools_app.protocols.pendle.signatures import CANCEL_ORDER
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.order_desks import OrderDesk, OrderDesks
from tools_app.toolkit.plan import Call
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.typed_data import TypedData

WAD = 10**18
GIVE = 300 * WAD
RATE = "5.5"
"""Percent a year; the local market stands at about five."""
pytestmark = pytest.mark.protocols("pendle")


@dataclass
class Maker:
    """A golem whose agent signs orders that give DAI for claims."""

    live: LiveGolem
    agent: Agent
    taker: Taker
    received: list[dict[str, Any]] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return self.taker.place

    def ask(self, tool: str, **body: Any) -> tuple[int, dict[str, Any]]:
        response = self.agent.post(tool, body)
        return response.status_code, response.json()

    def do(self, **body: Any) -> dict[str, Any]:
        status, permit = self.ask("preview_action", venue=NAME, **body)
        assert status == 200, permit
        _, done = self.ask("commit_action", permit_id=permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        return done

    def approve(self, amount: int = GIVE) -> None:
        self.do(action_type="pendle_approve_limit_orders", market=self.place.market, amount=str(amount))

    def preview(self, **changes: Any) -> tuple[int, dict[str, Any]]:
        body = {
            "action_type": "pendle_place_limit_order",
            "venue": NAME,
            "market": self.place.market,
            "amount": str(GIVE),
            "implied_apy": RATE,
        }
        return self.ask("preview_action", **{**body, **changes})

    def sign(self, **changes: Any) -> SignedPromise:
        status, permit = self.preview(**changes)
        assert status == 200, permit
        _, done = self.ask("commit_action", permit_id=permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        return SignedPromise.objects.get(permit_id=permit["permit_id"])

    def follow(self, row: SignedPromise) -> SignedPromise:
        now = clock.now()
        for minutes in (1, 2):
            SignedPromise.objects.update(next_check_at=now)
            check_signed_promises(now=now + timedelta(minutes=minutes))
        row.refresh_from_db()
        return row

    def told(self, row: SignedPromise) -> dict[str, Any]:
        query = REGISTRY.get("pendle_get_limit_order").key
        code, told = self.ask("query_state", query=query, order_hash=row.reference)
        assert code == 200, told
        data: dict[str, Any] = told["data"]
        return data

    def cancel(self, row: SignedPromise) -> None:
        self.do(action_type="pendle_cancel_limit_order", order_hash=row.reference)

    def claims(self, account: str | None = None) -> int:
        return int(self.taker.world.rpc.balance_of(self.place.pt, account or self.live.golem.address))


@pytest.fixture
def maker(transactional_db: None, local_chain: World) -> Iterator[Maker]:
    live = make_live_golem(local_chain)
    include_tools(live)
    received: list[dict[str, Any]] = []

    def take(method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        received.append(json.loads(body))
        return 201, {}

    environment = runner._get_environment()
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        with serve_stand_in(take) as url:
            desks = OrderDesks({(NAME, CHAIN_ID): OrderDesk(url)}, allows_private=True)
            runner.configure(replace(environment, services={**environment.services, OrderDesks: desks}))
            agent = Agent(golem=live.golem, key=live.key, client=Client())
            yield Maker(live, agent, make_taker(local_chain), received)
    finally:
        app.conf.task_always_eager = was_eager
        runner.configure(environment)


def include_tools(live: LiveGolem) -> None:
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())


def entry_of(row: SignedPromise) -> SpendEntry:
    return SpendEntry.objects.get(permit_id=row.permit_id)


def least_of(row: SignedPromise) -> int:
    return int(row.permit.result["data"]["least_out"])


def test_an_order_is_signed_handed_in_and_filled_by_a_stranger_for_no_less_than_was_told(maker: Maker) -> None:
    maker.approve()
    sent = OutboundTransaction.objects.count()
    row = maker.sign()
    assert OutboundTransaction.objects.count() == sent, "nothing is sent for an order"
    assert row.handed_in_at is not None and row.digest == row.reference
    assert (maker.told(row)["status"], entry_of(row).state) == ("open", "RESERVED")
    [line] = list_promise_lines(maker.live.golem, now=clock.now())
    assert (line.gives, line.gets[:26]) == ("300 DAI", "a position that counts as ")
    dai = maker.live.balance("DAI")
    assert maker.taker.sell(1_000 * WAD, row)
    assert dai - maker.live.balance("DAI") == GIVE
    got = maker.claims()
    assert least_of(row) <= got <= least_of(row) * 101 // 100
    told = maker.told(row)
    assert (told["status"], told["filled"], told["left"]) == ("filled", str(GIVE), "0")
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    assert maker.taker.sell(1_000 * WAD, row), "who names it again sells to the market"
    assert (maker.claims(), dai - maker.live.balance("DAI")) == (got, GIVE), "an order is filled once"


def test_of_an_order_that_is_filled_in_part_the_whole_stays_reserved_until_it_ends(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    assert maker.taker.sell(1_000 * WAD, row, part=GIVE // 3)
    told = maker.told(row)
    assert (told["status"], told["filled"]) == ("partly_filled", str(GIVE // 3))
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("OPEN", "RESERVED")
    got = maker.claims()
    maker.cancel(row)
    assert maker.taker.sell(500 * WAD, row) and maker.claims() == got
    assert (maker.told(row)["status"], maker.told(row)["left"]) == ("filled", "0")
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")


def test_an_order_that_is_taken_back_is_filled_by_nobody_and_frees_what_it_held(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    maker.cancel(row)
    dai = maker.live.balance("DAI")
    assert maker.taker.sell(1_000 * WAD, row), "the router passes it over and sells to the market"
    assert (maker.claims(), maker.live.balance("DAI")) == (0, dai)
    row = maker.follow(row)
    assert (row.state, entry_of(row).state, maker.told(row)["status"]) == ("CANCELLED", "RELEASED", "cancelled")
    status, problem = maker.ask(
        "preview_action", action_type="pendle_cancel_limit_order", venue=NAME, order_hash=row.reference
    )
    assert (status, problem["code"]) == (409, "PENDLE_ORDER_OVER"), problem


def test_an_order_that_was_taken_back_is_skipped_without_a_word_and_only_a_bound_keeps_its_taker_from_a_worse_price(
    maker: Maker,
) -> None:
    maker.approve()
    # A maker who pays more than the market; the agent's own slippage lets it.
    row = maker.sign(implied_apy="4.9", slippage_bps=300)
    maker.cancel(row)
    wanted = least_price(row) * 1_000
    assert not maker.taker.sell(1_000 * WAD, row, least=wanted)
    assert maker.taker.sell(1_000 * WAD, row), "unbounded it goes through, for what the market pays"


def least_price(row: SignedPromise) -> int:
    """What the order pays for a claim, in base units of the asset."""
    return GIVE * WAD // least_of(row) * 999 // 1_000


def test_an_order_whose_time_is_over_is_expired_and_free(maker: Maker) -> None:
    maker.approve()
    row = maker.sign(lasts_seconds=60)
    maker.taker.world.rpc.call("evm_increaseTime", 200)
    maker.taker.world.rpc.call("evm_mine")
    assert maker.taker.sell(1_000 * WAD, row) and maker.claims() == 0
    assert maker.told(row)["status"] == "expired"
    now = clock.now() + timedelta(minutes=5)
    check_signed_promises(now=now)
    check_signed_promises(now=now + timedelta(minutes=2))
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")


def test_an_order_that_was_filled_in_part_before_its_time_was_over_counts_as_filled(maker: Maker) -> None:
    maker.approve()
    row = maker.sign(lasts_seconds=60)
    assert maker.taker.sell(1_000 * WAD, row, part=GIVE // 4)
    maker.taker.world.rpc.call("evm_increaseTime", 200)
    maker.taker.world.rpc.call("evm_mine")
    assert maker.told(row)["status"] == "filled" and maker.told(row)["left"] == "0"
    now = clock.now() + timedelta(minutes=5)
    check_signed_promises(now=now)
    check_signed_promises(now=now + timedelta(minutes=2))
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")


def test_a_halt_takes_every_order_back_and_fills_come_too_late(maker: Maker) -> None:
    maker.approve(2 * GIVE)
    rows = [maker.sign(), maker.sign(implied_apy="6")]
    golem = Golem.objects.get(pk=maker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED", "CANCELLED"], step
    for row in rows:
        assert maker.taker.sell(500 * WAD, row) and maker.claims() == 0
        assert maker.follow(row).state == "CANCELLED"


def test_under_a_later_nonce_of_its_maker_an_order_is_cancelled(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    world, account = maker.taker.world, maker.live.golem.address
    world.rpc.call("anvil_impersonateAccount", account)
    world.rpc.call("eth_sendTransaction", {"from": account, "to": maker.place.limit_router, "data": "0xc53a0292"})
    assert maker.taker.sell(1_000 * WAD, row) and maker.claims() == 0
    assert maker.told(row)["status"] == "cancelled"
    assert maker.follow(row).state == "CANCELLED"


def test_what_a_stranger_changes_in_an_order_fills_nothing(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    dai = maker.live.balance("DAI")
    for changes in ({"makingAmount": 2 * GIVE}, {"lnImpliedRate": 1}, {"receiver": maker.taker.account.address}):
        assert not maker.taker.sell(1_000 * WAD, row, **changes)
    assert maker.live.balance("DAI") == dai and maker.follow(row).state == "OPEN"


def test_shares_that_suddenly_cost_more_than_the_order_allows_keep_it_from_being_filled(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    world, dai = maker.taker.world, maker.live.balance("DAI")
    # A donation to the yield: two percent in a second.
    world.transact(derive_account("pendle deployer"), maker.place.sy, "setEarnings(uint256,uint256)", WAD // 50, 0)
    world.rpc.call("evm_increaseTime", 1)
    world.rpc.call("evm_mine")
    assert not maker.taker.sell(1_000 * WAD, row)
    assert maker.live.balance("DAI") == dai


def test_an_order_that_the_limit_router_may_not_take_is_refused_with_the_call_that_mends_it(maker: Maker) -> None:
    status, problem = maker.preview()
    assert (status, problem["code"]) == (422, "PENDLE_ORDER_NEEDS_APPROVAL"), problem
    status, permit = maker.ask("preview_action", **problem["next"])
    assert status == 200, permit
    _, done = maker.ask("commit_action", permit_id=permit["permit_id"])
    assert done["status"] == "COMMITTED" and maker.preview()[0] == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"market": "0x" + "11" * 20}, "PENDLE_MARKET_NOT_FOUND"),
        ({"amount": "0"}, "INVALID_PARAMS"),
        ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE"),
        ({"implied_apy": "0"}, "PENDLE_ORDER_REFUSED"),
        ({"implied_apy": "0.055"}, "PENDLE_SLIPPAGE_TOO_HIGH"),
        ({"implied_apy": "-5"}, "INVALID_PARAMS"),
        ({"implied_apy": "9" * 30}, "PENDLE_TRADE_IMPOSSIBLE"),
        ({"implied_apy": "3"}, "PENDLE_SLIPPAGE_TOO_HIGH"),
        ({"lasts_seconds": 59}, "INVALID_PARAMS"),
        ({"lasts_seconds": 700_000}, "INVALID_PARAMS"),
        ({"chain_id": 10}, "CHAIN_NOT_SUPPORTED"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_signed(maker: Maker, changes: dict[str, Any], code: str) -> None:
    maker.approve()
    status, problem = maker.preview(**changes)
    assert (status >= 400, problem["code"]) == (True, code), problem
    assert not SignedPromise.objects.exists()


def test_the_desk_gets_the_order_as_pendle_s_order_book_takes_it(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    [body] = maker.received
    message = TypedData.of_json(row.typed_data).message
    assert body["signature"] == row.signature and body["chainId"] == CHAIN_ID and body["type"] == 0
    assert body["yt"] == maker.place.yt and body["maker"] == body["receiver"] == row.account
    assert (body["salt"], body["lnImpliedRate"]) == (str(message["salt"]), str(message["lnImpliedRate"]))
    assert set(body) == {
        *("chainId", "signature", "salt", "expiry", "nonce", "type", "token", "yt", "maker", "receiver"),
        *("makingAmount", "lnImpliedRate", "failSafeRate", "permit"),
    }


def test_the_orders_of_one_golem_are_told_to_no_other_and_taken_back_by_no_other(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    other = make_live_golem(maker.taker.world, name="Other", owner_name="owner-b")
    include_tools(other)
    agent = Agent(golem=other.golem, key=other.key, client=Client())
    asked = {"query": "pendle_limit_order", "order_hash": row.reference}
    assert agent.post("query_state", asked).json()["code"] == "PENDLE_ORDER_UNKNOWN"
    wanted = {"action_type": "pendle_cancel_limit_order", "venue": NAME, "order_hash": row.reference}
    assert agent.post("preview_action", wanted).json()["code"] == "PENDLE_ORDER_UNKNOWN"


def test_every_word_of_an_order_is_read_and_none_may_be_another(maker: Maker) -> None:
    maker.approve()
    typed = TypedData.of_json(maker.sign().typed_data)
    account, stranger = str(maker.live.golem.address), "0x" + "55" * 20
    chain = make_context(maker.taker.world, address=account).chain()
    message = typed.message
    PendlePromises().read(typed, account=account, chain=chain, into=Effects())
    wrong = {
        "salt": message["salt"] + 1,
        "nonce": message["nonce"] + 1,
        "expiry": 2**63,
        "orderType": 1,
        "token": stranger,
        "YT": stranger,
        "maker": stranger,
        "receiver": stranger,
        "failSafeRate": message["failSafeRate"] * 99 // 100,
        "permit": "0x01",
    }
    for name, value in wrong.items():
        with pytest.raises(UnknownCall):
            changed = replace(typed, message={**message, name: value})
            PendlePromises().read(changed, account=account, chain=chain, into=Effects())
    for domain in ({"chainId": 1}, {"name": "Pendle"}, {"version": "2"}, {"verifyingContract": stranger}):
        with pytest.raises(UnknownCall):
            changed = replace(typed, domain={**typed.domain, **domain})
            PendlePromises().read(changed, account=account, chain=chain, into=Effects())
    # The others change what is spent, until when, and what at least is bought: word for word the plan's.
    base = Effects()
    PendlePromises().read(typed, account=account, chain=chain, into=base)
    for name in ("makingAmount", "lnImpliedRate", "expiry"):
        into = Effects()
        changed = replace(typed, message={**message, name: message[name] * 9 // 10})
        PendlePromises().read(changed, account=account, chain=chain, into=into)
        assert (into.spends, into.statements, into.deadlines) != (base.spends, base.statements, base.deadlines), name


def test_taking_back_an_order_of_somebody_else_is_a_veto_and_one_s_own_is_named_by_its_hash(maker: Maker) -> None:
    maker.approve()
    typed = TypedData.of_json(maker.sign().typed_data)
    account = str(maker.live.golem.address)
    chain = make_context(maker.taker.world, address=account).chain()
    assert PROTOCOL.effects is not None
    own, others = (
        Call(maker.place.limit_router, encode_call(CANCEL_ORDER, order_values({**typed.message, **changes})), 0, "")
        for changes in ({}, {"maker": "0x" + "55" * 20})
    )
    into = Effects()
    PROTOCOL.effects.read(own, earlier=(), account=account, chain=chain, into=into)
    assert [each.subject for each in into.statements] == ["0x" + hash_typed_data(typed).hex()]
    with pytest.raises(UnknownCall):
        PROTOCOL.effects.read(others, earlier=(), account=account, chain=chain, into=Effects())


def test_the_limit_router_knows_an_order_by_the_hash_that_the_agent_is_told(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    typed = TypedData.of_json(row.typed_data)
    types = "(uint256,uint256,uint256,uint8,address,address,address,address,uint256,uint256,uint256,bytes)"
    [found] = maker.taker.world.rpc.read(
        maker.place.limit_router, f"hashOrder({types})", order_values(typed.message), returns="(bytes32)"
    )
    assert "0x" + bytes(found).hex() == row.reference


def test_a_safe_signs_orders_by_erc_1271_and_they_are_filled(maker: Maker) -> None:
    safe = SafeGolem(maker.live)
    maker.taker.world.fund(safe.safe.address, 20 * WAD, {"DAI": 5_000 * WAD})
    maker.approve()
    row = maker.sign()
    assert row.account == safe.safe.address
    assert maker.taker.sell(1_000 * WAD, row)
    assert maker.claims(safe.safe.address) >= least_of(row)
    assert maker.follow(row).state == "FILLED"


def test_a_position_that_came_by_a_fill_is_told_and_left_as_any_other(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    assert maker.taker.sell(1_000 * WAD, row)
    got = maker.claims()
    code, told = maker.ask("query_state", query="pendle_position", account=str(maker.live.golem.address))
    assert code == 200 and told["data"]["pt_positions"][0]["balance"] == str(got)
    maker.do(action_type="pendle_sell_pt", market=maker.place.market, amount="max")
    assert maker.claims() == 0
