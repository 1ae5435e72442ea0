"""A payment whose token stands still, leaves its peg or has no price, or that nobody settles: told within a tick,
nothing more is signed, and what was signed is taken back before anything else is left.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import Golem
from golem_project.heartbeat.duties.position_monitor import LOCKED_SOURCE, PEG_SOURCE, STILL_SOURCE
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import HaltSetting, OutboundTransaction, SignedPromise, SpendEntry
from tests.catalogue.frozen_tokens import Issuer
from tests.golem_project.heartbeat.pulses import turn_on
from tests.tools_app.protocols.looks import fall, grow_stale, look, told
from tests.tools_app.protocols.x402.payee import USD
from tests.tools_app.protocols.x402.payer import Payer
from tools_app.core import clock
from tools_app.protocols.x402.addresses import proxy_on
from tools_app.standards.calldata import calls as is_call
from tools_app.standards.permit2_nonces import INVALIDATE

pytestmark = pytest.mark.protocols("uniswap_x", "x402")


def watch(payer: Payer) -> Golem:
    """Its heartbeat is on, and everything is well."""
    golem = payer.live.golem
    turn_on(golem, is_live=False, rule={})
    look(golem)
    assert [told(golem, each) for each in (STILL_SOURCE, PEG_SOURCE, LOCKED_SOURCE)] == [[], [], []]
    return golem


def take_back(payer: Payer, payment: dict[str, Any]) -> None:
    """Nobody settles it any more, and what it held is free."""
    payer.do(action_type="cancel_payment", payment_id=payment["payment_id"])
    assert payer.status(payment)["status"] == "cancelled"
    row = payer.follow(SignedPromise.objects.get())
    assert SpendEntry.objects.get(permit_id=row.permit_id).state == "RELEASED"


@pytest.mark.parametrize("how", ["paused", "frozen here", "frozen at the payee"])
def test_of_a_token_that_stands_still_nothing_is_signed_and_what_was_signed_is_taken_back(
    stranger: Payer, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    payer, issuer = stranger, Issuer(stranger.live.world, "USDC", monkeypatch)
    payer.list_payee()
    payer.approve()
    payment, golem = payer.pay(), watch(payer)
    if how == "paused":
        issuer.pause()
    else:
        issuer.freeze(payer.payee.address if how == "frozen at the payee" else golem.address)
    look(golem)
    # What stands still at somebody else's is told to whoever pays them.
    assert told(golem, STILL_SOURCE) == ([] if how == "frozen at the payee" else ["stands still: USDC"])
    refused = payer.refuse("TOKEN_STANDS_STILL", reference="a second one")
    assert refused["recovery"] == "WAIT" and refused["token"] == payer.payee.usdc
    approving = {"action_type": "approve_payments", "venue": "x402", "token": "USDC", "amount": str(USD)}
    status, answer = payer.post("preview_action", **approving)
    assert (status == 200) == (how == "frozen at the payee"), answer
    assert not payer.payee.settle(payment) and payer.status(payment)["status"] == "open"
    take_back(payer, payment)
    issuer.pause(is_on=False)
    issuer.freeze("0x0")
    assert not payer.payee.settle(payment), "it was taken back for good"
    look(golem)
    assert told(golem, STILL_SOURCE)[-1:] == ([] if how == "frozen at the payee" else ["well again"])
    assert payer.payee.settle(payer.pay(reference="a second one"))


def test_of_a_dollar_that_falls_nothing_is_signed_and_what_was_signed_is_taken_back(payer: Payer) -> None:
    payment, golem = payer.pay(), watch(payer)
    fall(payer.live.world, "USDC")
    look(golem)
    assert told(golem, PEG_SOURCE) == ["off its peg: USDC"]
    assert payer.refuse("TOKEN_OFF_PEG", reference="a second one")["recovery"] == "WAIT"
    take_back(payer, payment)


def test_where_its_price_is_stale_nothing_is_signed_and_what_was_signed_is_taken_back(payer: Payer) -> None:
    payment, golem = payer.pay(), watch(payer)
    grow_stale(payer.live.world, "USDC")
    look(golem)
    assert told(golem, LOCKED_SOURCE) == ["oracle failed: price of USDC"]
    status, refused = payer.preview(reference="a second one")
    assert status == 503 and refused["code"] in ("PRICE_STALE", "VALUE_UNKNOWN") and refused["recovery"], refused
    take_back(payer, payment)


@pytest.mark.parametrize("gone", ["the proxy", "every facilitator"])
def test_what_nobody_settles_holds_its_amount_until_its_end_and_no_longer(payer: Payer, gone: str) -> None:
    world, payment = payer.live.world, payer.pay()
    if gone == "the proxy":
        world.rpc.call("anvil_setCode", proxy_on(world.chain_id, "exact"), "0x")
    row = payer.follow(SignedPromise.objects.get())
    assert (row.state, SpendEntry.objects.get(permit_id=row.permit_id).state) == ("OPEN", "RESERVED")
    assert payer.status(payment)["status"] == "open"
    world.rpc.call("evm_increaseTime", 400)
    world.rpc.call("evm_mine")
    for minutes in (7, 9):
        check_signed_promises(now=clock.now() + timedelta(minutes=minutes))
    row.refresh_from_db()
    assert (row.state, SpendEntry.objects.get(permit_id=row.permit_id).state) == ("EXPIRED", "RELEASED")
    assert payer.payee.balance() == 0


def test_a_halt_takes_payments_back_before_it_leaves_anything_else(payer: Payer) -> None:
    """A payee that settles in between would be paid by a golem that leaves."""
    payment, golem = payer.pay(), watch(payer)
    fall(payer.live.world, "USDC")
    HaltSetting.objects.update_or_create(golem=golem, defaults={"sell_on_halt": True})
    halted = halt_golem(golem=golem, reason="it fell", actor="user:owner", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    hashes = OutboundTransaction.objects.filter(permit__golem=golem).order_by("nonce").values_list("tx_hash", flat=True)
    sent = [payer.live.world.rpc.call("eth_getTransactionByHash", each) for each in hashes]
    places = [at for at, each in enumerate(sent) if is_call(bytes.fromhex(each["input"][2:]), INVALIDATE)]
    names = [str(each["step"]) for each in steps]
    taken_back, left = names.index("signed promises cancelled"), names.index("positions listed for unwinding")
    assert len(places) == 1 and taken_back < left, names
    assert not payer.payee.settle(payment) and payer.payee.balance() == 0
