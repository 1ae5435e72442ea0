"""Orders of UniswapX on the real reactors: signed once, handed to a desk, filled, cancelled, expired, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.embedded.world.rpc import RpcError
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.signed_promises import judge_fate
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import OutboundTransaction, SignedPromise, SpendEntry
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.uniswap_x.filler import Filler, open_desk
from tools_app import runner
from tools_app.core import clock
from tools_app.protocols.uniswap_x.addresses import NAME, deployments
from tools_app.protocols.uniswap_x.orders import KINDS, hash_order
from tools_app.protocols.uniswap_x.promises import UniswapXPromises
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.order_desks import OrderDesk, OrderDesks
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.typed_data import TypedData

DAI = 10**18
GIVE = 300 * DAI
AUCTIONS = ("dutch_v2", "dutch_v3", "priority")
pytestmark = pytest.mark.protocols("uniswap_x")


@dataclass
class Maker:
    """A golem whose agent signs orders that give DAI for WETH, and who fills them."""

    live: LiveGolem
    agent: Agent
    filler: Filler

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
        self.do(action_type="approve_order_token", token="DAI", amount=str(amount))

    def preview(self, kind: str = "limit", **changes: Any) -> tuple[int, dict[str, Any]]:
        body: dict[str, Any] = {
            "action_type": "submit_order",
            "venue": NAME,
            "token_in": "DAI",
            "token_out": "WETH",
            "amount": str(GIVE),
            "order_type": kind,
            **({"limit_amount_out": str(DAI // 10)} if kind == "limit" else {}),
        }
        return self.ask("preview_action", **{**body, **changes})

    def sign(self, kind: str = "limit", **changes: Any) -> SignedPromise:
        status, permit = self.preview(kind, **changes)
        assert status == 200, permit
        _, done = self.ask("commit_action", permit_id=permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        return SignedPromise.objects.get(permit_id=permit["permit_id"])

    def fill(self, row: SignedPromise, **more: Any) -> bool:
        body = next(each for each in self.filler.received if each["signature"] == row.signature)
        return bool(self.filler.fill(body, row.reference, **more)["status"] == "0x1")

    def follow(self, row: SignedPromise) -> SignedPromise:
        now = clock.now()
        for minutes in (1, 2):
            SignedPromise.objects.update(next_check_at=now)
            check_signed_promises(now=now + timedelta(minutes=minutes))
        row.refresh_from_db()
        return row

    def status(self, row: SignedPromise) -> dict[str, Any]:
        code, told = self.ask("query_state", query="uniswapx_order", order_hash=row.reference)
        assert code == 200, told
        data: dict[str, Any] = told["data"]
        return data

    def cancel(self, row: SignedPromise) -> None:
        nonce = TypedData.of_json(row.typed_data).message["nonce"]
        self.do(action_type="cancel_order", nonce=str(nonce))


@pytest.fixture
def filler(local_chain: World) -> Iterator[Filler]:
    assert local_chain.protocols["uniswap_x"] == deployments(CHAIN_ID)
    with open_desk(local_chain) as opened:
        yield opened


@pytest.fixture
def maker(transactional_db: None, filler: Filler, monkeypatch: pytest.MonkeyPatch) -> Iterator[Maker]:
    world = filler.world
    live = make_live_golem(world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    desks = OrderDesks({(NAME, CHAIN_ID): OrderDesk(filler.url, filler.cosigner.address)}, allows_private=True)
    environment = runner._get_environment()
    runner.configure(replace(environment, services={**environment.services, OrderDesks: desks}))
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        yield Maker(live, Agent(golem=live.golem, key=live.key, client=Client()), filler)
    finally:
        app.conf.task_always_eager = was_eager
        runner.configure(environment)


def test_an_order_is_cancelled_by_its_hash_and_what_is_over_is_cancelled_by_nobody_again(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    nonce = str(TypedData.of_json(row.typed_data).message["nonce"])
    maker.do(action_type="cancel_order", order_hash=row.reference)
    assert maker.status(row)["status"] == "cancelled"
    for named in ({"order_hash": row.reference}, {"nonce": nonce}):
        status, told = maker.ask("preview_action", venue=NAME, action_type="cancel_order", **named)
        assert (status, told["code"], told["nonce"]) == (409, "ORDER_IS_OVER", nonce)
    both = maker.ask("preview_action", venue=NAME, action_type="cancel_order", order_hash=row.reference, nonce=nonce)
    strange = maker.ask("preview_action", venue=NAME, action_type="cancel_order", order_hash="0x" + "11" * 32)
    assert (both[1]["code"], strange[1]["code"]) == ("INVALID_PARAMS", "ORDER_UNKNOWN")
    assert strange[1]["or_call"]["arguments"] == {"query": "promises"}


def test_every_name_of_orders_leads_to_its_tool() -> None:
    assert {tool.name for tool in REGISTRY if tool.venue == NAME} == {
        "uniswap_approve_uniswapx",
        "uniswap_submit_uniswapx_order",
        "uniswap_get_uniswapx_order_status",
        "uniswap_cancel_uniswapx_order",
    }


def entry_of(row: SignedPromise) -> SpendEntry:
    return SpendEntry.objects.get(permit_id=row.permit_id)


def test_a_limit_order_is_signed_handed_in_and_filled_by_a_stranger(maker: Maker) -> None:
    maker.approve()
    sent = OutboundTransaction.objects.count()
    row = maker.sign()
    assert OutboundTransaction.objects.count() == sent, "nothing is sent for an order"
    assert row.handed_in_at is not None and row.reference == hash_order(TypedData.of_json(row.typed_data))
    assert (maker.status(row)["status"], entry_of(row).state) == ("open", "RESERVED")
    before = maker.live.balance("WETH")
    assert maker.fill(row)
    assert maker.live.balance("WETH") - before == DAI // 10
    assert maker.status(row)["status"] == "filled"
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    assert not maker.fill(row), "an order is filled once"


@pytest.mark.parametrize("kind", AUCTIONS)
def test_an_auction_that_its_desk_co_signed_is_filled_for_no_less_than_its_worst(maker: Maker, kind: str) -> None:
    maker.approve()
    row = maker.sign(kind)
    least = int(row.gets[0]["raw"])
    before, dai = maker.live.balance("WETH"), maker.live.balance("DAI")
    assert maker.fill(row)
    got = maker.live.balance("WETH") - before
    assert least <= got and dai - maker.live.balance("DAI") == GIVE == int(row.gives[0]["raw"])
    assert maker.follow(row).state == "FILLED"


def test_an_auction_whose_cosigner_lets_it_fall_at_once_brings_its_worst_and_not_less(maker: Maker) -> None:
    maker.approve()
    row = maker.sign("dutch_v2")
    before = maker.live.balance("WETH")
    assert maker.fill(row, decay=(1, 2))
    assert maker.live.balance("WETH") - before == int(row.gets[0]["raw"])


def test_an_order_that_was_filled_while_it_was_being_cancelled_is_filled(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    nonce = str(TypedData.of_json(row.typed_data).message["nonce"])
    status, permit = maker.ask("preview_action", venue=NAME, action_type="cancel_order", nonce=nonce)
    assert status == 200 and maker.fill(row)
    maker.ask("commit_action", permit_id=permit["permit_id"])
    assert maker.follow(row).state == "FILLED"
    assert maker.status(row)["status"] == "filled"


def test_an_order_that_is_cancelled_is_filled_by_nobody_and_frees_what_it_held(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    maker.cancel(row)
    assert not maker.fill(row)
    row = maker.follow(row)
    assert (row.state, entry_of(row).state, maker.status(row)["status"]) == ("CANCELLED", "RELEASED", "cancelled")


def test_an_approval_that_is_withdrawn_ends_no_order_and_given_again_it_is_filled(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    world, account = maker.filler.world, maker.live.golem.address
    world.rpc.call("anvil_impersonateAccount", account)
    for amount in (0, GIVE):
        data = "0x095ea7b3" + PERMIT2[2:].lower().rjust(64, "0") + hex(amount)[2:].rjust(64, "0")
        world.rpc.call("eth_sendTransaction", {"from": account, "to": world.tokens["DAI"].address, "data": data})
        if not amount:
            assert not maker.fill(row)
            row = maker.follow(row)
            assert (row.state, entry_of(row).state) == ("OPEN", "RESERVED"), "its end is its nonce, not its approval"
    assert maker.fill(row)
    assert maker.follow(row).state == "FILLED"


def test_an_order_whose_time_is_over_is_expired(maker: Maker) -> None:
    maker.approve()
    row = maker.sign(lasts_seconds=60)
    maker.filler.world.rpc.call("evm_increaseTime", 200)
    maker.filler.world.rpc.call("evm_mine")
    assert not maker.fill(row)
    assert maker.status(row)["status"] == "expired"
    now = clock.now() + timedelta(minutes=5)
    check_signed_promises(now=now)
    check_signed_promises(now=now + timedelta(minutes=2))
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")


def test_a_halt_uses_the_nonces_of_all_orders_up_and_fills_come_too_late(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    golem = Golem.objects.get(pk=maker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED"], step
    assert not maker.fill(row)
    assert maker.follow(row).state == "CANCELLED"


def test_a_desk_that_takes_nothing_is_asked_again(maker: Maker) -> None:
    maker.approve()
    maker.filler.refuses = True
    row = maker.sign()
    assert (row.handed_in_at, row.hand_in_error) == (None, "its desk answered 503")
    assert maker.status(row)["status"] == "pending"
    maker.filler.refuses = False
    row = maker.follow(row)
    assert row.handed_in_at is not None and row.hand_in_error == ""
    assert len(maker.filler.received) == 1 and maker.fill(row)


def test_an_order_that_permit2_may_not_take_is_refused_with_the_call_that_mends_it(maker: Maker) -> None:
    status, problem = maker.preview()
    assert (status, problem["code"]) == (422, "ORDER_NEEDS_APPROVAL"), problem
    maker.approve()
    assert maker.preview()[0] == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"limit_amount_out": "0"}, "ORDER_TERMS_REFUSED"),
        ({"token_out": "DAI"}, "ORDER_TERMS_REFUSED"),
        ({"token_in": "ETH"}, "ORDER_TERMS_REFUSED"),
        ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE"),
        ({"order_type": "dutch_v2"}, "ORDER_TERMS_REFUSED"),
        ({"lasts_seconds": 59}, "INVALID_PARAMS"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_signed(maker: Maker, changes: dict[str, Any], code: str) -> None:
    maker.approve()
    status, problem = maker.preview(**changes)
    assert (status >= 400, problem["code"]) == (True, code), problem


def test_an_auction_without_a_desk_is_refused_and_a_limit_order_is_not(maker: Maker) -> None:
    maker.approve()
    environment = runner._get_environment()
    runner.configure(replace(environment, services={**environment.services, OrderDesks: OrderDesks({})}))
    status, problem = maker.preview("dutch_v2")
    assert (status, problem["code"]) == (503, "ORDER_DESK_MISSING"), problem
    assert maker.sign().handed_in_at is None


def test_an_order_far_below_the_feeds_is_refused(maker: Maker) -> None:
    maker.approve()
    status, problem = maker.preview(limit_amount_out=str(DAI // 100))
    assert status >= 400 and "would bring only" in str(problem), problem


def test_the_orders_of_one_golem_are_told_to_no_other(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    other = make_live_golem(maker.filler.world, name="Other", owner_name="owner-b")
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=other.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    agent = Agent(golem=other.golem, key=other.key, client=Client())
    response = agent.post("query_state", {"query": "uniswapx_order", "order_hash": row.reference})
    assert response.json()["code"] == "ORDER_UNKNOWN"


def test_every_word_of_an_order_is_read_and_none_may_be_another(maker: Maker) -> None:
    maker.approve()
    typed = TypedData.of_json(maker.sign().typed_data)
    account, stranger = str(maker.live.golem.address), "0x" + "55" * 20
    chain = make_context(maker.filler.world, address=account).chain()
    UniswapXPromises().read(typed, account=account, chain=chain, into=Effects())
    order = typed.message["witness"]
    info = order["info"]
    wrong: list[dict[str, Any]] = [
        {**typed.message, "spender": stranger},
        {**typed.message, "nonce": typed.message["nonce"] + 1},
        {**typed.message, "deadline": typed.message["deadline"] + 1},
        {**typed.message, "permitted": {**typed.message["permitted"], "amount": GIVE + 1}},
        {**typed.message, "permitted": {**typed.message["permitted"], "token": stranger}},
        {**typed.message, "witness": {**order, "inputEndAmount": GIVE + 1}},
        *(
            {**typed.message, "witness": {**order, "info": {**info, name: value}}}
            for name, value in (
                ("reactor", stranger),
                ("swapper", stranger),
                ("nonce", 1),
                ("deadline", 1),
                ("additionalValidationContract", stranger),
                ("additionalValidationData", "0x01"),
            )
        ),
    ]
    for message in wrong:
        with pytest.raises(UnknownCall):
            UniswapXPromises().read(replace(typed, message=message), account=account, chain=chain, into=Effects())
    # On another chain its reactors are others', and the digest is another.
    with pytest.raises(UnknownCall):
        UniswapXPromises().read(
            replace(typed, domain={**typed.domain, "chainId": 1}), account=account, chain=chain, into=Effects()
        )


@pytest.mark.parametrize("key", sorted(KINDS))
def test_of_amounts_that_change_the_worst_counts(key: str, maker: Maker) -> None:
    maker.approve()
    row = maker.sign(key)
    into = Effects()
    chain = make_context(maker.filler.world, address=row.account).chain()
    UniswapXPromises().read(TypedData.of_json(row.typed_data), account=row.account, chain=chain, into=into)
    world = maker.filler.world
    assert into.spends == {world.tokens["DAI"].address: GIVE}
    assert into.receives == {world.tokens["WETH"].address: int(row.gets[0]["raw"])}


def test_a_safe_signs_orders_by_erc_1271_and_they_are_filled(maker: Maker) -> None:
    safe = SafeGolem(maker.live)
    maker.filler.world.fund(safe.safe.address, 20 * 10**18, {"DAI": 5_000 * DAI})
    maker.approve()
    row = maker.sign()
    assert row.account == safe.safe.address
    before = safe.balance("WETH")
    assert maker.fill(row)
    assert safe.balance("WETH") - before == DAI // 10
    assert maker.follow(row).state == "FILLED"


def test_a_stranger_s_signature_fills_no_order_and_no_other_golem_s_tokens(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    [body] = maker.filler.received
    forged = {**body, "signature": "0x" + maker.filler.cosigner.unsafe_sign_hash(b"1" * 32).signature.hex()}
    assert maker.filler.fill(forged, row.reference)["status"] == "0x0"
    assert maker.follow(row).state == "OPEN"


@pytest.mark.parametrize("kind", ["limit", *AUCTIONS])
def test_an_order_is_filled_on_no_other_chain(maker: Maker, kind: str) -> None:
    maker.approve()
    row, rpc = maker.sign(kind), maker.filler.world.rpc
    body = next(each for each in maker.filler.received if each["signature"] == row.signature)
    call = maker.filler.prepare(body, row.reference)
    assert rpc.call("eth_call", call, "pending") == "0x", "here it would be filled"
    rpc.call("anvil_setChainId", 8453)
    try:
        # Its contracts stand there too, with the same tokens and the same approval: the signature alone is another's.
        with pytest.raises(RpcError):
            rpc.call("eth_call", call, "pending")
    finally:
        rpc.call("anvil_setChainId", CHAIN_ID)
    assert maker.fill(row) and maker.follow(row).state == "FILLED"


def test_an_order_that_was_used_up_and_nobody_tells_by_what_counts_as_taken(maker: Maker) -> None:
    maker.approve()
    row = maker.sign()
    typed, promises = TypedData.of_json(row.typed_data), UniswapXPromises()
    used = [ReadOutcome(True, (2**256 - 1,))]
    assert promises.judge(typed, used, None) is None
    assert promises.judge(typed, used, []) is Fate.PARTLY
    assert judge_fate(row, Fate.PARTLY, block_time=int(row.ends_at.timestamp())) == "OPEN"
    assert judge_fate(row, Fate.PARTLY, block_time=int(row.ends_at.timestamp()) + 1) == "FILLED"
