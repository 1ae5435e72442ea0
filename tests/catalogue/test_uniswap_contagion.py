"""A token inside Uniswap's pools, shares and orders that leaves its peg, is priced by nobody or stands still: told
within a tick, nothing more goes in, and what can come out does, in the right order.

Positions that fall with a token of theirs are in `test_uniswap_folders`; here are V2 shares, signed orders, and tokens
that their issuers paused or froze, at every place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pytest

from golem_project.heartbeat.duties.position_monitor import LOCKED_SOURCE, PEG_SOURCE, PEGGED
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import HaltSetting, OutboundTransaction, SignedPromise
from tests.catalogue.circumstances import give_shares, sign_order
from tests.catalogue.door import Door
from tests.catalogue.frozen_tokens import Issuer
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.tools_app.protocols.uniswap.test_positions import add_shares
from tools_app.chain.public_tokens import PUBLIC_TOKENS
from tools_app.core import clock
from tools_app.core.models import OutboxEvent
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap_twamm.addresses import contract_on
from tools_app.standards import erc20
from tools_app.standards.calldata import calls as is_call
from tools_app.standards.paused_tokens import SWITCHES, StillReads
from tools_app.standards.permit2_nonces import INVALIDATE
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import LOCKED_WORDS
from tools_app.toolkit.typed_data import TypedData

ETH, USD, CHAIN_ID = 10**18, 10**6, 31337
LIMIT: Final = {
    "venue": "uniswap_x",
    "action_type": "submit_order",
    "token_in": "USDC",
    "token_out": "DAI",
    "amount": str(300 * USD),
    "order_type": "limit",
    "limit_amount_out": str(299 * ETH),
}
APPROVE: Final = {"venue": "uniswap_x", "action_type": "approve_order_token", "token": "USDC", "amount": str(900 * USD)}


def told(door: Door, source: str) -> list[str]:
    rows = OutboxEvent.objects.filter(golem_id=door.stage.live.golem.pk, type="heartbeat:alert", payload__source=source)
    return [alert["rule"] for row in rows.order_by("sequence") for alert in row.payload["alerts"]]


def look(door: Door) -> None:
    tick(door.stage.live.golem)


def set_feed(door: Door, symbol: str, function: str, value: int) -> None:
    world = door.stage.world
    world.transact(world.actors.deployer, world.tokens[symbol].feed, function, value)


def give_dai_shares(door: Door) -> dict[str, str]:
    """Somebody puts WETH and DAI into their V2 pair and sends the golem the shares; the call that gives them back."""
    world = door.stage.world
    pair, giver = world.pool("v2", "WETH", "DAI").address, world.new_account(ETH, {"WETH": ETH, "DAI": 4_000 * ETH})
    add_shares(world, giver, world.tokens["DAI"].address, world.tokens["WETH"].address, 3_000 * ETH, ETH)
    mine = world.rpc.balance_of(pair, giver.address)
    world.transact(giver, pair, "transfer(address,uint256)", door.stage.account, mine)
    return {"venue": "uniswap", "action_type": "remove_shares", "pair": pair}


def give_away(door: Door, symbol: str) -> None:
    """The golem holds nothing of a token any more."""
    stage = door.stage
    token = stage.world.tokens[symbol].address
    raw = stage.world.rpc.balance_of(token, stage.account)
    meta = stage.reader().token(token)
    stage.send(TxPlan(CHAIN_ID, (erc20.transfer(token=meta, recipient="0x" + "44" * 20, amount=raw),)))


def order(door: Door) -> SignedPromise:
    """The golem signed that it gives USDC for DAI, at a price that stands."""
    assert door.commit(door.post("preview_action", APPROVE))["status"] == "COMMITTED"
    sign_order(door.stage, **LIMIT)
    return SignedPromise.objects.get()


# ---- shares of a V2 pair -------------------------------------------------------------------------------------------


def test_shares_of_a_token_that_leaves_its_peg_are_told_and_may_be_given_back_and_nobody_buys_the_token(
    door: Door,
) -> None:
    leaving = give_dai_shares(door)
    give_away(door, "DAI")
    turn_on(door.stage.live.golem, is_live=False, rule={})
    look(door)
    assert told(door, PEG_SOURCE) == []
    set_feed(door, "DAI", "setAnswer(int256)", 93 * 10**6)
    look(door)
    assert told(door, PEG_SOURCE) == ["off its peg: DAI"], "only the shares hold it"
    swap = {"venue": "uniswap", "action_type": "swap", "token_in": "USDC", "token_out": "DAI", "amount": str(50 * USD)}
    refused = door.post("preview_action", swap)
    assert (refused["code"], refused["recovery"]) == ("TOKEN_OFF_PEG", "WAIT"), refused
    assert door.commit(door.post("preview_action", leaving))["status"] == "COMMITTED"


def test_shares_of_a_token_whose_price_is_stale_may_be_given_back(door: Door) -> None:
    leaving = give_dai_shares(door)
    set_feed(door, "DAI", "setUpdatedAt(uint256)", door.stage.world.timestamp() - 100_000)
    swap = {"venue": "uniswap", "action_type": "swap", "token_in": "USDC", "token_out": "DAI", "amount": str(50 * USD)}
    refused = door.post("preview_action", swap)
    assert refused["http"] == 503 and refused["code"] in ("PRICE_STALE", "VALUE_UNKNOWN"), refused
    assert door.post("preview_action", leaving)["http"] == 200


# ---- signed orders -------------------------------------------------------------------------------------------------


@pytest.mark.protocols("uniswap_x")
def test_an_order_that_would_bring_a_fallen_token_is_told_though_none_is_held_and_is_taken_back(door: Door) -> None:
    stage = door.stage
    give_away(door, "DAI")
    row = order(door)
    turn_on(stage.live.golem, is_live=False, rule={})
    look(door)
    assert told(door, PEG_SOURCE) == []
    set_feed(door, "DAI", "setAnswer(int256)", 93 * 10**6)
    look(door)
    assert told(door, PEG_SOURCE) == ["off its peg: DAI"]
    refused = door.post("preview_action", dict(LIMIT))
    assert (refused["code"], refused["recovery"]) == ("TOKEN_OFF_PEG", "WAIT"), refused
    nonce = TypedData.of_json(row.typed_data).message["nonce"]
    cancel = {"venue": "uniswap_x", "action_type": "cancel_order", "nonce": str(nonce)}
    assert door.commit(door.post("preview_action", cancel))["status"] == "COMMITTED"
    SignedPromise.objects.update(state="CANCELLED", ended_at=clock.now())
    look(door)
    assert told(door, PEG_SOURCE)[-1] == "well again", PEGGED


@pytest.mark.protocols("uniswap_x")
def test_an_auction_at_a_stale_price_is_refused_and_its_order_may_be_taken_back(door: Door) -> None:
    order(door)
    set_feed(door, "DAI", "setUpdatedAt(uint256)", door.stage.world.timestamp() - 100_000)
    auction = {**LIMIT, "order_type": "priority"}
    del auction["limit_amount_out"]
    for asked in (auction, LIMIT):
        refused = door.post("preview_action", dict(asked))
        assert refused["http"] == 503 and refused["code"] in ("PRICE_STALE", "VALUE_UNKNOWN"), refused
    nonce = TypedData.of_json(SignedPromise.objects.get().typed_data).message["nonce"]
    cancel = {"venue": "uniswap_x", "action_type": "cancel_order", "nonce": str(nonce)}
    assert door.post("preview_action", cancel)["http"] == 200


@pytest.mark.protocols("uniswap_x")
@pytest.mark.parametrize("symbol", ["USDC", "DAI"])
def test_no_order_is_signed_of_a_token_that_stands_still_and_one_is_taken_back(
    door: Door, symbol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(door)
    issuer = Issuer(door.stage.world, symbol, monkeypatch)
    for stop in (issuer.pause, lambda: issuer.freeze(door.stage.account)):
        stop()
        refused = door.post("preview_action", dict(LIMIT))
        assert (refused["code"], refused["recovery"]) == ("TOKEN_STANDS_STILL", "WAIT"), refused
        issuer.pause(is_on=False)
    nonce = TypedData.of_json(SignedPromise.objects.get().typed_data).message["nonce"]
    cancel = {"venue": "uniswap_x", "action_type": "cancel_order", "nonce": str(nonce)}
    assert door.commit(door.post("preview_action", cancel))["status"] == "COMMITTED"


@pytest.mark.protocols("uniswap_x", "uniswap_v4")
def test_a_halt_takes_orders_back_before_it_leaves_what_falls_with_them(door: Door) -> None:
    """A fill in between would bring the fallen token for good money."""
    stage = door.stage
    door.do("uniswap_lp_add_v4")
    order(door)
    set_feed(door, "DAI", "setAnswer(int256)", 93 * 10**6)
    golem = stage.live.golem
    HaltSetting.objects.update_or_create(golem=golem, defaults={"unwind_on_halt": True})
    halted = halt_golem(golem=golem, reason="DAI fell", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    hashes = OutboundTransaction.objects.order_by("nonce").values_list("tx_hash", flat=True)
    sent = [stage.world.rpc.call("eth_getTransactionByHash", each) for each in hashes]
    cancelled = [at for at, each in enumerate(sent) if is_call(bytes.fromhex(each["input"][2:]), INVALIDATE)]
    v4 = v4_on(CHAIN_ID)
    assert v4 is not None
    left = [at for at, each in enumerate(sent) if each["to"].lower() == v4.positions.lower()]
    assert len(cancelled) == 1 and left and cancelled[0] < min(left), sent


# ---- tokens that their issuers paused or froze ---------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The case that enters (None: somebody gives shares), the token that stands still, and who holds it there."""

    entering: str | None
    symbol: str
    holder: str


PLACES: Final = {
    "V2": Place(None, "USDC", "pair"),
    "V3": Place("uniswap_lp_add_liquidity", "USDC", "pool"),
    "V4": Place("uniswap_lp_add_v4", "USDC", "manager"),
    "TWAMM": Place("uniswap_lp_submit_twamm_order", "DAI", "orders"),
}
OTHER_POOLS: Final = pytest.mark.protocols("uniswap_v4", "uniswap_mining", "uniswap_twamm")


def enter(door: Door, place: Place) -> str:
    """Something is there; who holds its tokens."""
    stage, v4 = door.stage, v4_on(CHAIN_ID)
    assert v4 is not None
    if place.entering is None:
        give_shares(stage)
    else:
        door.do(place.entering)
    stage.live.golem.refresh_from_db()
    if place.holder == "manager":
        return v4.manager
    if place.holder == "orders":
        return contract_on(CHAIN_ID)
    if place.holder == "pair":
        return str(stage.told["pair"])
    (held,) = (each for each in stage.positions() if each.ref.protocol == "uniswap")
    return str(held.facts["pool"])


@OTHER_POOLS
@pytest.mark.parametrize("how", ["paused", "frozen there", "frozen here"])
@pytest.mark.parametrize("name", PLACES)
def test_what_is_held_beside_a_token_that_stands_still_is_told_within_a_tick_and_waits_until_it_moves(
    door: Door, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, stage = PLACES[name], door.stage
    holder = enter(door, place)
    turn_on(stage.live.golem, is_live=False, rule={})
    look(door)
    assert told(door, LOCKED_SOURCE) == []
    (before,) = (each for each in stage.positions() if each.ref.protocol.startswith("uniswap"))
    issuer = Issuer(stage.world, place.symbol, monkeypatch)
    if how == "paused":
        issuer.pause()
    else:
        issuer.freeze(holder if how == "frozen there" else stage.account)
    look(door)
    assert [each.split(":")[0] for each in told(door, LOCKED_SOURCE)] == ["cannot be taken out now"] * len(before.legs)
    if place.entering is not None:
        refused = door.preview(place.entering)
        assert refused["http"] != 200, refused
    golem = stage.live.golem
    HaltSetting.objects.update_or_create(golem=golem, defaults={"unwind_on_halt": True})
    halted = halt_golem(golem=golem, reason="it fell", actor="user:owner", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    assert "waits" in str(steps) and LOCKED_WORDS["still"] in str(steps), steps
    issuer.pause(is_on=False)
    issuer.freeze("0x0")
    carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    assert not [each for each in stage.positions() if each.ref.protocol.startswith("uniswap")]


@OTHER_POOLS
def test_what_stands_still_keeps_nothing_else_in(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exits of what moves go on, in the same halt."""
    stage = door.stage
    door.do("uniswap_lp_add_liquidity", "uniswap_lp_submit_twamm_order")
    Issuer(stage.world, "DAI", monkeypatch).pause()
    golem = stage.live.golem
    HaltSetting.objects.update_or_create(golem=golem, defaults={"unwind_on_halt": True})
    halted = halt_golem(golem=golem, reason="it fell", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    assert [each.ref.protocol for each in stage.positions()] == ["uniswap_twamm"]


def test_a_token_that_nobody_vouches_for_is_not_asked_whether_it_stands_still() -> None:
    """Else a stranger's token would keep a position from being left by saying so."""
    usdc, holder = PUBLIC_TOKENS[1][1][1], "0x" + "55" * 20
    reads = StillReads.of(1, [("0x" + "66" * 20, holder), (usdc, holder)])
    assert len(reads.calls) == 2 and {call.to for call in reads.calls} == {usdc}


def test_the_tokens_that_are_asked_are_registered_dollars() -> None:
    registered = {(chain, address): symbol for chain, rows in PUBLIC_TOKENS.items() for symbol, address, *_ in rows}
    assert {registered.get(each) for each in SWITCHES} == {"USDC", "USDT"}
