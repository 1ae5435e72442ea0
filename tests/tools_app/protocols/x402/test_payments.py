"""Payments of x402: signed once for a payee that the agent names, settled, taken back, expired, or not at all."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import OutboundTransaction, SignedPromise, SpendEntry
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import make_live_golem
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.x402.payee import USD, Payee
from tests.tools_app.protocols.x402.payer import Payer
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.protocols.x402.addresses import NAME, UPTO
from tools_app.protocols.x402.promises import Payments
from tools_app.toolkit.context import ReadOutcome
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.typed_data import TypedData

pytestmark = pytest.mark.protocols("uniswap_x", "x402")
STRANGER = "0x" + "55" * 20


def entry_of(row: SignedPromise) -> SpendEntry:
    return SpendEntry.objects.get(permit_id=row.permit_id)


def test_a_payment_is_signed_settled_by_a_stranger_once_and_stands_in_the_audit_log(payer: Payer) -> None:
    sent = OutboundTransaction.objects.count()
    payment = payer.pay()
    assert OutboundTransaction.objects.count() == sent, "nothing is sent for a payment"
    [row] = SignedPromise.objects.all()
    assert (payer.status(payment)["status"], entry_of(row).state) == ("open", "RESERVED")
    assert payer.payee.settle(payment) and payer.payee.balance() == 2 * USD
    assert not payer.payee.settle(payment), "a replay takes nothing"
    told = payer.status(payment)
    assert (told["status"], told["paid"], told["recipient"]) == ("settled", str(2 * USD), payer.payee.address)
    row = payer.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    receipt = AuditEntry.objects.get(golem_id=payer.live.golem.pk, event="PromiseFilled")
    assert receipt.data["gives"] == [{"token": payer.payee.usdc, "raw": str(2 * USD)}]
    assert payer.payee.balance() == 2 * USD


def test_of_a_payment_of_up_to_an_amount_its_facilitator_takes_what_it_says_and_nobody_else(payer: Payer) -> None:
    payment = payer.pay(payer.payee.ask(payer.payee.item(UPTO)))
    assert not payer.payee.settle(payment, by=payer.payee.account), "another facilitator"
    assert not payer.payee.settle(payment, amount=2 * USD + 1), "more than was signed"
    assert payer.payee.settle(payment, amount=USD // 2) and payer.payee.balance() == USD // 2
    assert not payer.payee.settle(payment, amount=1), "once"
    told = payer.status(payment)
    assert (told["status"], told["paid"], told["amount"]) == ("settled", str(USD // 2), str(2 * USD))
    assert payer.follow(SignedPromise.objects.get()).state == "FILLED"


def test_a_facilitator_that_changes_a_word_takes_nothing(payer: Payer) -> None:
    payment = payer.pay()
    told = payment["payload"]["permit2Authorization"]
    dai = payer.live.world.tokens["DAI"].address
    for changed in (
        {"permitted": {**told["permitted"], "amount": str(3 * USD)}},
        {"permitted": {**told["permitted"], "token": dai}},
        {"witness": {**told["witness"], "to": STRANGER}},
        {"witness": {**told["witness"], "validAfter": "1"}},
        {"nonce": str(int(told["nonce"]) + 1)},
        {"deadline": str(int(told["deadline"]) + 1)},
        {"from": payer.payee.address},
    ):
        assert not payer.payee.settle(payment, **changed), changed
    assert payer.status(payment)["status"] == "open" and payer.payee.settle(payment)


def test_a_retry_is_paid_once_whatever_it_asks_for_then(payer: Payer) -> None:
    payment = payer.pay()
    for header, changed in (
        (payer.payee.ask(), []),
        (payer.payee.ask(payer.payee.item(amount=str(3 * USD))), ["amount"]),
    ):
        problem = payer.refuse("PAYMENT_SIGNED_ALREADY", header)
        assert (problem["payment_id"], problem["changed"]) == (payment["payment_id"], changed)
    other = Payee(payer.live.world)
    payer.list_payee(other.address)
    problem = payer.refuse("PAYMENT_SIGNED_ALREADY", other.ask(), recipient=other.address)
    assert problem["changed"] == ["payee"]
    assert payer.payee.settle(payment)
    assert "another reference" in payer.refuse("PAYMENT_SIGNED_ALREADY")["detail"]
    again = payer.pay(reference="tomorrow")
    assert again["payment_id"] != payment["payment_id"] and payer.payee.settle(again)
    assert payer.payee.balance() == 4 * USD


def test_of_two_permits_for_one_payment_the_second_is_not_signed_and_counts_for_nothing(payer: Payer) -> None:
    first, second = (payer.preview()[1]["permit_id"] for _ in range(2))
    assert first != second
    _, done = payer.post("commit_action", permit_id=first)
    told = done["result"]["data"]
    payment = {**told["payment"], "payload": {**told["payment"]["payload"], "signature": told["signature"]}}
    _, refused = payer.post("commit_action", permit_id=second)
    assert refused["status"] != "COMMITTED" and "PROMISE_STANDS" in json.dumps(refused), refused
    assert payer.payee.settle(payment) and payer.payee.balance() == 2 * USD
    [row] = SignedPromise.objects.all()
    assert str(row.permit_id) == first and payer.follow(row).state == "FILLED"
    assert [each.state for each in SpendEntry.objects.filter(permit_id=second)] == ["RELEASED"]


def test_a_payment_that_is_taken_back_is_settled_by_nobody_and_frees_what_it_held(payer: Payer) -> None:
    payment = payer.pay()
    payer.do(action_type="cancel_payment", payment_id=payment["payment_id"])
    assert not payer.payee.settle(payment)
    row = payer.follow(SignedPromise.objects.get())
    assert (row.state, entry_of(row).state, payer.status(payment)["status"]) == ("CANCELLED", "RELEASED", "cancelled")
    for wrong, code in ((payment["payment_id"], "PAYMENT_SIGNED_ALREADY"), ("0x" + "1" * 64, "PAYMENT_UNKNOWN")):
        _, problem = payer.post("preview_action", venue=NAME, action_type="cancel_payment", payment_id=wrong)
        assert problem["code"] == code, problem


def test_a_payment_that_is_settled_too_late_is_not_and_what_it_held_is_free(payer: Payer) -> None:
    payment = payer.pay()
    payer.live.world.rpc.call("evm_increaseTime", 400)
    payer.live.world.rpc.call("evm_mine")
    assert not payer.payee.settle(payment)
    assert payer.status(payment)["status"] == "expired"
    now = clock.now() + timedelta(minutes=7)
    for minutes in (0, 2):
        check_signed_promises(now=now + timedelta(minutes=minutes))
    row = SignedPromise.objects.get()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")
    assert payer.payee.settle(payer.pay()), "it can be paid again after its end"


def test_a_halt_takes_every_payment_back_and_facilitators_come_too_late(payer: Payer) -> None:
    payment = payer.pay()
    golem = Golem.objects.get(pk=payer.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED"], step
    assert not payer.payee.settle(payment)


def test_a_payee_that_no_owner_listed_is_not_paid(stranger: Payer) -> None:
    stranger.approve()
    problem = stranger.refuse("SAFETY_ADDRESS_NOT_ALLOWED")
    assert stranger.payee.address in str(problem)
    stranger.list_payee()
    assert stranger.payee.settle(stranger.pay())


def test_a_payment_that_permit2_may_not_take_is_refused_with_the_call_that_mends_it(stranger: Payer) -> None:
    stranger.list_payee()
    problem = stranger.refuse("PAYMENT_NEEDS_APPROVAL")
    assert problem["next"]["action_type"] == "approve_payments"
    stranger.do(**{name: value for name, value in problem["next"].items() if name != "venue"})
    assert stranger.preview()[0] == 200


OTHERWISE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"amount": str(3 * USD + 1)}, "more than the"),
    ({"payTo": STRANGER}, "another payee"),
    ({"asset": STRANGER}, "another token"),
    ({"network": "eip155:1"}, "another network"),
    ({"scheme": "subscription"}, "neither exact nor upto"),
    ({"extra": {"name": "USDC", "version": "2"}}, "only Permit2"),
    ({"amount": "0"}, "no whole number"),
    ({"amount": 2_000_000}, "no whole number"),
    ({"maxTimeoutSeconds": 29}, "less than 30 seconds"),
    ({"scheme": UPTO, "extra": {"assetTransferMethod": "permit2"}}, "without the facilitator"),
)
"""What a payee asks for that an agent did not say, and the words of why it is not signed."""


def test_what_is_asked_for_is_held_to_what_the_agent_said(payer: Payer) -> None:
    for changed, words in OTHERWISE:
        item = payer.payee.item(**changed)
        assert words in payer.refuse("PAYMENT_TERMS_REFUSED", payer.payee.ask(item))["detail"], changed
        status, permit = payer.preview(payer.payee.ask(item, payer.payee.item()))
        assert status == 200, "another way fits"
        payer.post("cancel_action", permit_id=permit["permit_id"], reason="only a look")


def test_thirty_seconds_are_enough_and_an_hour_is_the_most(payer: Payer) -> None:
    for seconds, lasts in ((30, 30), (3_600, 3_600), (86_400, 3_600)):
        begun = int(clock.now().timestamp())
        payment = payer.pay(payer.payee.ask(payer.payee.item(maxTimeoutSeconds=seconds)), reference=f"for {seconds}")
        ends = int(payment["payload"]["permit2Authorization"]["deadline"])
        assert 0 <= ends - lasts - begun < 120


def test_a_header_of_something_else_is_refused(payer: Payer) -> None:
    told = (
        b"no JSON",
        b"[1]",
        json.dumps({"x402Version": 1, "accepts": []}).encode(),
        json.dumps({"x402Version": 2, "accepts": []}).encode(),
        json.dumps({"x402Version": 2, "resource": {"url": "x"}, "accepts": [7]}).encode(),
    )
    for each in told:
        payer.refuse("PAYMENT_TERMS_REFUSED", base64.b64encode(each).decode())


def test_a_resource_has_an_address_of_two_thousand_and_forty_eight_letters_at_most(payer: Payer) -> None:
    url = "https://weather.example/".ljust(2_048, "x")
    assert payer.preview(payer.payee.ask(url=url))[0] == 200
    assert "no resource" in payer.refuse("PAYMENT_TERMS_REFUSED", payer.payee.ask(url=url + "x"))["detail"]


def test_a_safe_pays_by_erc_1271(payer: Payer) -> None:
    safe = SafeGolem(payer.live)
    payer.live.world.fund(safe.safe.address, 20 * 10**18, {"USDC": 50 * USD})
    payer.approve()
    payment = payer.pay()
    assert payment["payload"]["permit2Authorization"]["from"] == safe.safe.address
    assert payer.payee.settle(payment) and payer.payee.balance() == 2 * USD


def test_payments_of_one_golem_are_told_to_no_other(payer: Payer) -> None:
    payment = payer.pay()
    other = make_live_golem(payer.live.world, name="Other", owner_name="owner-b")
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.get_or_create(
            golem=other.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
        )
    agent = Agent(golem=other.golem, key=other.key, client=Client())
    response = agent.post("query_state", {"query": "x402_payment", "payment_id": payment["payment_id"]})
    assert response.json()["code"] == "PAYMENT_UNKNOWN"


def test_every_word_of_a_payment_is_read_and_none_may_be_another(payer: Payer) -> None:
    payer.pay(payer.payee.ask(payer.payee.item(UPTO)))
    typed = TypedData.of_json(SignedPromise.objects.get().typed_data)
    account, nobody = str(payer.live.golem.address), "0x" + "0" * 40
    chain = make_context(payer.live.world, address=account).chain()
    into = Effects()
    Payments().read(typed, account=account, chain=chain, into=into)
    assert into.spends == {payer.payee.usdc: 2 * USD} and into.paid_plainly == [payer.payee.address]
    message, witness = typed.message, typed.message["witness"]
    for wrong in (
        {**message, "spender": STRANGER},
        {**message, "nonce": message["nonce"] ^ 1 << 200},
        {**message, "witness": {**witness, "to": account}},
        {**message, "witness": {**witness, "to": nobody}},
        {**message, "witness": {**witness, "facilitator": nobody}},
        {**message, "witness": {**witness, "validAfter": 1}},
    ):
        with pytest.raises(UnknownCall):
            Payments().read(replace(typed, message=wrong), account=account, chain=chain, into=Effects())
    for other in (
        replace(typed, domain={**typed.domain, "chainId": 1}),
        replace(typed, types={**typed.types, "Witness": (("to", "address"),)}),
        replace(typed, primary_type="PermitTransferFrom"),
    ):
        with pytest.raises(UnknownCall):
            Payments().read(other, account=account, chain=chain, into=Effects())


def test_a_payment_that_was_used_up_and_nobody_tells_by_what_counts_as_made(payer: Payer) -> None:
    payer.pay()
    typed, used = TypedData.of_json(SignedPromise.objects.get().typed_data), [ReadOutcome(True, (2**256 - 1,))]
    assert Payments().judge(typed, used, None) is None
    assert Payments().judge(typed, used, []) is Fate.PARTLY
