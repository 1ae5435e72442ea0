"""Reads that have a price: whoever pays is answered, the money is the golem's, and nobody pays twice or for nothing."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from a2a.types import a2a_pb2 as wire
from django.test import Client
from django.urls import reverse
from eth_account import Account

from archetypes_app.owner_group import ensure_owner_group
from golem_project.a2a import public_queries
from golem_project.a2a.models import OpenedRead, Task
from golem_project.a2a.payment_gas_account import find_address
from golem_project.a2a.tasks import follow_tasks_task, forget_old_rows_task
from permits_app.actions import record_paid_read
from permits_app.models import SoldAnswer
from tests import factories
from tests.admin.rows import page
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.a2a.buyer import PRICE, USD, Buyer, read_receipt
from tests.golem_project.a2a.conftest import Line, answer_of, ask, run, state_of
from tests.golem_project.a2a.real_usdc import carry_out, mint, put_real_usdc
from tests.golem_project.a2a.test_strangers import open_visit
from tests.golem_project.pi.conftest import Agent
from tests.passing_time import let_pass_until
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.standards.permit2 import PERMIT2

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("uniswap_x", "x402")]
ADD = "admin:a2a_openedread_add"
VISITOR = Account.from_key("0x" + "11" * 32)


def open_read(golem: Any, *, price: int | None = PRICE, query: str = "limits", venue: str = "golem") -> OpenedRead:
    return OpenedRead.objects.create(
        golem=golem, query=query, venue=venue, price_micro_usdc=price, created_at=clock.now()
    )


@pytest.fixture
def buyer(live: Agent, local_chain: World, web_port: int, eager_work: None) -> Buyer:
    """Somebody with ten real USDC, before a read that costs five cents."""
    assert local_chain.protocols["x402"]
    open_read(live.golem)
    put_real_usdc(local_chain)
    account = local_chain.new_account()
    mint(local_chain, account.address, 10 * USD)
    url = f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}/paid/golem/limits"
    return Buyer(local_chain, account, url)


@pytest.fixture
def owner_page(live: Agent) -> Client:
    client = Client()
    live.golem.owner.groups.add(ensure_owner_group())
    client.force_login(live.golem.owner)
    return client


def test_an_owner_sets_a_price_with_the_read_and_the_card_tells_it(db: None) -> None:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    golem, browser = factories.make_golem(owner=owner), Client()
    browser.force_login(owner)
    form = browser.get(reverse(ADD)).content.decode()
    assert find_address() in form
    told = {"golem": golem.pk, "query": "limits", "venue": "golem"}
    for price in ("0", "-1", "0.0000001", "1000.000001"):
        browser.post(reverse(ADD), {**told, "price": price})
    assert not OpenedRead.objects.exists()
    browser.post(reverse(ADD), {**told, "price": "1000"})
    assert OpenedRead.objects.get().price_micro_usdc == 1_000 * USD
    OpenedRead.objects.all().delete()
    browser.post(reverse(ADD), {**told, "price": "0.05"})
    assert OpenedRead.objects.get().price_micro_usdc == PRICE
    listed = browser.get(reverse("admin:a2a_openedread_changelist")).content.decode()
    assert "0.05 USDC" in listed
    card = browser.get(f"/a2a/{golem.pk}/.well-known/agent-card.json").json()
    assert "limits@golem for 0.05 USDC" in str(card["skills"])
    assert any("a2a-x402" in each["uri"] for each in card["capabilities"]["extensions"])


def test_nobody_sets_a_price_on_another_owners_golem(db: None) -> None:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    theirs, browser = factories.make_golem(owner=factories.make_owner(name="ben")), Client()
    browser.force_login(owner)
    browser.post(reverse(ADD), {"golem": theirs.pk, "query": "limits", "venue": "golem", "price": "1"})
    assert not OpenedRead.objects.exists()


def test_the_standards_own_client_pays_and_is_answered_and_the_golems_account_has_the_money(
    buyer: Buyer, live: Agent, owner_page: Client
) -> None:
    golem = live.golem
    asked = buyer.ask()
    assert (asked.status_code, asked.json()["code"]) == (402, "PAYMENT_REQUIRED")
    answer = buyer.buy()
    assert answer.status_code == 200 and "per_day" in answer.json()["data"], answer.text
    receipt = read_receipt(answer)
    assert receipt.success and receipt.payer == buyer.account.address
    assert buyer.balance(str(golem.address)) == PRICE and buyer.balance(buyer.account.address) == 10 * USD - PRICE
    assert buyer.balance(find_address()) == 0, "whoever carries it out gets nothing"
    entry = AuditEntry.objects.get(golem_id=golem.pk, event="AnswerSold")
    assert (entry.data["payer"], entry.data["transaction"]) == (buyer.account.address, receipt.transaction)
    month = {"month": f"{clock.now():%Y-%m}"}
    shown = owner_page.get(page("archetypes_app.golem", "statement", golem.pk), month).content.decode()
    assert "limits@golem" in shown and "0.05 USDC" in shown and buyer.account.address in shown
    file = owner_page.get(page("archetypes_app.golem", "csv", golem.pk, "sales"))
    [told] = csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode()))  # type: ignore[attr-defined]
    assert (told["paid"], told["payer"], told["transaction"]) == (
        f"{PRICE} {buyer.usdc}",
        buyer.account.address,
        receipt.transaction,
    )
    stranger = Client()
    stranger.force_login(factories.make_owner(name="ben"))
    assert stranger.get(page("archetypes_app.golem", "csv", golem.pk, "sales")).status_code in (302, 403, 404)


def test_a_payment_goes_through_permit2_where_the_token_takes_no_authorization(
    live: Agent, local_chain: World, web_port: int, eager_work: None
) -> None:
    assert local_chain.protocols["x402"]
    open_read(live.golem)
    account = local_chain.new_account(tokens={"USDC": 10 * USD})
    buyer = Buyer(local_chain, account, f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}/paid/golem/limits")
    before = buyer.balance(str(live.golem.address))
    assert buyer.buy().status_code == 402, "Permit2 may take nothing yet"
    local_chain.transact(account, buyer.usdc, "approve(address,uint256)", PERMIT2, USD)
    payment = buyer.sign()
    assert buyer.ask(payment).status_code == 200 and buyer.ask(payment).status_code == 200
    assert buyer.balance(str(live.golem.address)) - before == PRICE
    assert SoldAnswer.objects.get().method == "permit2"


def test_who_asks_again_with_the_same_payment_has_the_same_answer_and_pays_once(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign()
    first, again = buyer.ask(payment), buyer.ask(payment)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json() and read_receipt(first) == read_receipt(again)
    assert buyer.balance(str(live.golem.address)) == PRICE
    assert AuditEntry.objects.filter(event="AnswerSold").count() == 1


def test_of_many_with_the_same_payment_at_once_one_is_sold(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign()
    statuses = sorted(at_once(lambda _: buyer.ask(payment).status_code, count=4))
    assert statuses[0] == 200 and set(statuses) <= {200, 409}, statuses
    assert buyer.balance(str(live.golem.address)) == PRICE and SoldAnswer.objects.count() == 1


def test_a_question_that_is_refused_costs_nothing_and_its_payment_stays_good(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign()
    refused = buyer.ask(payment, nonsense="x")
    assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_PARAMS")
    assert buyer.balance(str(live.golem.address)) == 0 and not SoldAnswer.objects.exists()
    assert buyer.ask(payment).status_code == 200 and buyer.balance(str(live.golem.address)) == PRICE


def test_a_payment_buys_nothing_else(buyer: Buyer, live: Agent) -> None:
    open_read(live.golem, query="golem")
    payment = buyer.sign()
    assert buyer.ask(payment).status_code == 200
    other = buyer.ask(payment, url=buyer.url.replace("/limits", "/golem"))
    assert (other.status_code, other.json()["code"]) == (409, "PAYMENT_USED_ALREADY")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"value": "49999"}, "amount"),
        ({"to": "0x" + "55" * 20}, "payTo"),
        ({"from": "0x" + "66" * 20}, "signature"),
        ({"validBefore": "1"}, "valid_before"),
        ({"validBefore": str(2**40)}, "longer"),
        ({"nonce": "0x" + "77" * 32}, "signature"),
        ({"nonce": "0x12"}, "nonce"),
        ({"value": 50_000}, "number"),
    ],
)
def test_what_was_signed_for_something_else_is_not_taken(buyer: Buyer, changed: dict[str, Any], words: str) -> None:
    payment = buyer.sign()
    payment["payload"]["authorization"] |= changed
    refused = buyer.ask(payment)
    assert refused.status_code == 402 and "PAYMENT-REQUIRED" in refused.headers
    assert words in refused.json()["detail"], refused.json()
    assert not SoldAnswer.objects.exists()


@pytest.mark.parametrize(("seconds", "status"), [(590, 200), (660, 402)])
def test_a_payment_holds_ten_minutes_and_no_longer(buyer: Buyer, seconds: int, status: int) -> None:
    told = json.loads(base64.b64decode(buyer.ask().headers["PAYMENT-REQUIRED"]))
    for item in told["accepts"]:
        item["maxTimeoutSeconds"] = seconds
    assert buyer.ask(buyer.sign_for(base64.b64encode(json.dumps(told).encode()).decode())).status_code == status


@pytest.mark.parametrize(
    "handed", [{}, [1], {"x402Version": 1}, {"x402Version": 2, "payload": {}, "accepted": {}}, {"x402Version": 2}]
)
def test_a_header_that_holds_no_payment_is_asked_for_one(buyer: Buyer, handed: Any) -> None:
    assert buyer.ask(handed).status_code == 402


def test_who_has_too_little_is_asked_again_and_nothing_is_sold(buyer: Buyer) -> None:
    poor = Buyer(buyer.world, buyer.world.new_account(), buyer.url)
    refused = poor.ask(poor.sign())
    assert refused.status_code == 402 and "insufficient" in refused.json()["detail"]
    assert not SoldAnswer.objects.exists()


def test_a_price_that_was_raised_is_asked_for_anew(buyer: Buyer) -> None:
    payment = buyer.sign()
    OpenedRead.objects.update(price_micro_usdc=2 * PRICE)
    refused = buyer.ask(payment)
    assert refused.status_code == 402 and "amount" in refused.json()["detail"]
    assert buyer.buy().status_code == 200


def test_what_somebody_else_carried_out_before_it_was_handed_in_buys_nothing(buyer: Buyer) -> None:
    payment = buyer.sign()
    carry_out(buyer.world, payment)
    refused = buyer.ask(payment)
    assert refused.status_code == 402 and "before" in refused.json()["detail"]


def take(buyer: Buyer, live: Agent, payment: dict[str, Any]) -> SoldAnswer:
    """A payment that a server process took, and stopped."""
    given = payment["payload"]["authorization"]
    question = live.golem.opened_reads.get()
    from golem_project.a2a.settle_paid_read import Asker, SoldQuestion

    asked = SoldQuestion(live.golem, question.query, question.venue, {}, PRICE, "", Asker())
    row = record_paid_read.take_payment(
        record_paid_read.AnswerSale(
            golem_id=live.golem.pk,
            query=asked.query,
            venue=asked.venue,
            asked_digest=asked.digest,
            asker_digest=asked.asker.name(payment),
            chain_id=buyer.world.chain_id,
            token=buyer.usdc,
            method="eip3009",
            payer=given["from"],
            payee=given["to"],
            raw=PRICE,
            units="0.05 USDC",
            nonce=given["nonce"],
            since_block=int(buyer.world.rpc.call("eth_blockNumber"), 16),
            ends_at=clock.now() + timedelta(minutes=5),
        ),
        now=clock.now(),
    )
    assert row is not None
    return row


def test_a_payment_that_was_carried_out_while_the_server_stopped_is_sold_and_answered(
    buyer: Buyer, live: Agent
) -> None:
    payment = buyer.sign()
    row = take(buyer, live, payment)
    assert (buyer.ask(payment).status_code, buyer.ask(payment).json()["code"]) == (409, "PAYMENT_IN_WORK")
    carry_out(buyer.world, payment)
    assert row.lease_until is not None
    let_pass_until(row.lease_until)
    follow_tasks_task()
    told = AuditEntry.objects.get(event="AnswerSold")
    assert told.data["transaction"].startswith("0x"), "whoever sent it"
    answer = buyer.ask(payment)
    assert answer.status_code == 200 and "per_day" in answer.json()["data"]
    assert buyer.balance(str(live.golem.address)) == PRICE


def sign_elsewhere(buyer: Buyer, payment: dict[str, Any], to: str) -> dict[str, Any]:
    """The same payer signs the same nonce of the token for somebody else."""
    given = {**payment["payload"]["authorization"], "to": to}
    types = {
        "TransferWithAuthorization": [
            {"name": "from", "type": "address"},
            {"name": "to", "type": "address"},
            {"name": "value", "type": "uint256"},
            {"name": "validAfter", "type": "uint256"},
            {"name": "validBefore", "type": "uint256"},
            {"name": "nonce", "type": "bytes32"},
        ]
    }
    extra = payment["accepted"]["extra"]
    domain = {"name": extra["name"], "version": extra["version"], "chainId": CHAIN_ID, "verifyingContract": buyer.usdc}
    words = {**given, **{name: int(given[name]) for name in ("value", "validAfter", "validBefore")}}
    signed = buyer.account.sign_typed_data(domain, types, {**words, "nonce": bytes.fromhex(given["nonce"][2:])})
    return {**payment, "payload": {"authorization": given, "signature": "0x" + signed.signature.hex()}}


def test_a_nonce_that_its_payer_used_to_pay_somebody_else_has_paid_nothing(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign()
    row = take(buyer, live, payment)
    carry_out(buyer.world, sign_elsewhere(buyer, payment, buyer.account.address))
    assert row.lease_until is not None
    let_pass_until(row.lease_until)
    follow_tasks_task()
    assert not AuditEntry.objects.filter(event="AnswerSold").exists()
    refused = buyer.ask(payment)
    assert refused.status_code == 402, refused.text
    assert not SoldAnswer.objects.exists() and buyer.balance(str(live.golem.address)) == 0


def test_a_payment_that_is_overtaken_while_its_answer_is_worked_out_buys_nothing(
    buyer: Buyer, live: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at it and its carrying out the payer spends the same nonce on themselves."""
    payment = buyer.sign()
    elsewhere = sign_elsewhere(buyer, payment, buyer.account.address)
    real = public_queries._work_out

    def overtake(*given: Any) -> dict[str, Any]:
        answer = real(*given)
        carry_out(buyer.world, elsewhere)
        return answer

    monkeypatch.setattr(public_queries, "_work_out", overtake)
    refused = buyer.ask(payment)
    assert refused.status_code == 402 and "per_day" not in refused.text
    assert not SoldAnswer.objects.exists() and not AuditEntry.objects.filter(event="AnswerSold").exists()
    assert buyer.balance(str(live.golem.address)) == 0


def test_one_transaction_pays_for_one_answer(buyer: Buyer, live: Agent) -> None:
    first, second = buyer.sign(), buyer.sign()
    assert buyer.ask(first).status_code == 200
    paid = SoldAnswer.objects.get().transaction
    row = take(buyer, live, second)
    assert record_paid_read.record_sale(row, transaction_hash=paid, now=clock.now()) is None
    row.refresh_from_db()
    assert row.state == "TAKEN" and AuditEntry.objects.filter(event="AnswerSold").count() == 1


def test_who_hands_it_in_again_after_the_server_stopped_pays_once(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign()
    row = take(buyer, live, payment)
    assert row.lease_until is not None
    let_pass_until(row.lease_until)
    assert buyer.ask(payment).status_code == 200 and buyer.ask(payment).status_code == 200
    assert buyer.balance(str(live.golem.address)) == PRICE


def test_a_payment_that_nobody_carried_out_in_its_time_leaves_no_row(buyer: Buyer, live: Agent) -> None:
    row = take(buyer, live, buyer.sign())
    let_pass_until(row.ends_at + timedelta(minutes=9))
    follow_tasks_task()
    assert SoldAnswer.objects.exists(), "a block may still hold it"
    let_pass_until(row.ends_at + timedelta(minutes=11))
    follow_tasks_task()
    assert not SoldAnswer.objects.exists()


def test_an_answer_is_kept_a_day_and_its_receipt_for_good(buyer: Buyer) -> None:
    payment = buyer.sign()
    assert buyer.ask(payment).status_code == 200
    sold_at = SoldAnswer.objects.get().sold_at
    assert sold_at is not None
    let_pass_until(sold_at + timedelta(hours=23))
    forget_old_rows_task()
    assert SoldAnswer.objects.get().answer
    let_pass_until(sold_at + timedelta(hours=25))
    forget_old_rows_task()
    assert SoldAnswer.objects.get().answer == {}
    again = buyer.ask(payment)
    assert (again.status_code, again.json()["code"]) == (409, "PAYMENT_USED_ALREADY")


def test_a_read_that_is_free_or_closed_is_not_sold(buyer: Buyer) -> None:
    for url in (buyer.url.replace("/limits", "/permits"), buyer.url.replace("/golem/", "/elsewhere/")):
        assert buyer.ask(url=url).json()["code"] == "A2A_NOT_FOR_STRANGERS"
    OpenedRead.objects.update(price_micro_usdc=None)
    assert buyer.ask().json()["code"] == "A2A_NOT_FOR_STRANGERS"


def test_as_many_answers_of_one_golem_are_sold_at_once_as_may_be(buyer: Buyer, live: Agent, settings: Any) -> None:
    settings.GOLEM_MOST_SALES_AT_ONCE = 1
    take(buyer, live, buyer.sign())
    refused = buyer.ask(buyer.sign())
    assert (refused.status_code, refused.json()["code"]) == (429, "A2A_TOO_MANY_TASKS")


@pytest.fixture
def visitor(buyer: Buyer, live: Agent, web_port: int) -> Iterator[Line]:
    """A stranger's line to the same golem over A2A."""
    token = open_visit(live, VISITOR)
    yield Line(f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}", token, live.golem)


async def _send(line: Line, request: Any) -> dict[str, Any]:
    from google.protobuf.json_format import MessageToDict

    async with line.open() as client:
        events = [MessageToDict(event) async for event in client.send_message(request)]
    task: dict[str, Any] = events[-1]["task"]
    return task


def hand_in(task: dict[str, Any], payment: dict[str, Any]) -> wire.SendMessageRequest:
    """A payment for a task, with words that nobody reads."""
    message = wire.Message(
        message_id=str(uuid4()),
        role=wire.ROLE_USER,
        task_id=task["id"],
        context_id=task["contextId"],
        parts=[wire.Part(text="here is the payment")],
    )
    message.metadata.update({"x402.payment.status": "payment-submitted", "x402.payment.payload": payment})
    return wire.SendMessageRequest(message=message)


def test_over_a2a_a_task_waits_to_be_paid_for_and_is_answered(buyer: Buyer, visitor: Line, live: Agent) -> None:
    from x402.schemas import PaymentRequired

    task = run(_send(visitor, ask("query_state", {"query": "limits"})))
    told = task["status"]["message"]["metadata"]
    assert (state_of({"task": task}), told["x402.payment.status"]) == ("INPUT_REQUIRED", "payment-required")
    asked = json.loads(json.dumps(told["x402.payment.required"]))
    for item in asked["accepts"]:
        item["maxTimeoutSeconds"] = int(item["maxTimeoutSeconds"])
    required = PaymentRequired.model_validate({**asked, "x402Version": 2})
    payment = buyer.client.create_payment_payload(required).model_dump(by_alias=True, exclude_none=True)
    message = hand_in(task, payment)
    paid = run(_send(visitor, message))
    assert state_of({"task": paid}) == "COMPLETED", paid
    assert "per_day" in answer_of(paid)["data"]
    told = paid["status"]["message"]["metadata"]
    assert told["x402.payment.status"] == "payment-completed"
    [receipt] = told["x402.payment.receipts"]
    assert receipt["success"] and receipt["payer"] == buyer.account.address
    assert buyer.balance(str(live.golem.address)) == PRICE
    assert payment["payload"]["signature"] not in str(paid)


def test_over_a2a_a_payment_of_something_else_is_told_and_the_task_waits_on(buyer: Buyer, visitor: Line) -> None:
    task = run(_send(visitor, ask("query_state", {"query": "limits"})))
    payment = buyer.sign()
    payment["payload"]["authorization"]["value"] = "1"
    again = run(_send(visitor, hand_in(task, payment)))
    assert state_of({"task": again}) == "INPUT_REQUIRED"
    assert "amount" in again["status"]["message"]["metadata"]["x402.payment.required"]["error"]


def test_over_a2a_a_task_that_nobody_pays_for_ends(visitor: Line, live: Agent) -> None:
    run(_send(visitor, ask("query_state", {"query": "limits"})))
    row = Task.objects.get()
    assert row.lease_until is not None
    let_pass_until(row.lease_until)
    follow_tasks_task()
    assert Task.objects.get().state == "CANCELED"
    later = Line(visitor.url, open_visit(live, VISITOR), visitor.golem)
    late = {"messageId": str(uuid4()), "role": "ROLE_USER", "taskId": str(row.pk), "parts": [{"text": "x"}]}
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {"message": {**late, "metadata": {"x402.payment.payload": {"x402Version": 2}}}},
    }
    assert "A2A_TASK_TAKES_NO_MESSAGE" in later.post(body).json()["error"]["message"]


def test_over_a2a_a_question_that_is_refused_costs_nothing(buyer: Buyer, visitor: Line, live: Agent) -> None:
    params = {"query": "limits", "nonsense": "x"}
    task = run(_send(visitor, ask("query_state", params)))
    refused = run(_send(visitor, hand_in(task, buyer.sign())))
    assert state_of({"task": refused}) == "REJECTED" and buyer.balance(str(live.golem.address)) == 0
