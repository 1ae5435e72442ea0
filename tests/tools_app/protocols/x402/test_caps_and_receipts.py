"""What owners allow to be paid, the receipt they get, and payees who take money and give nothing for it."""

from __future__ import annotations

import base64
import csv
import http.server
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.limits.ledger import read_usage
from permits_app.models import SignedPromise, SpendingLimits
from tests.admin.rows import page
from tests.tools_app.protocols.x402.payee import USD, Payee
from tests.tools_app.protocols.x402.payer import Payer
from tools_app.core import clock
from tools_app.protocols.x402.addresses import UPTO

pytestmark = pytest.mark.protocols("uniswap_x", "x402")
LIMIT = "SAFETY_SPENDING_LIMIT_EXCEEDED"


def limit(payer: Payer, **micro_usd: int) -> None:
    SpendingLimits.objects.filter(golem=payer.live.golem).update(**micro_usd)


def held(payer: Payer) -> int:
    """What payments hold and took of the day's limit, micro-USD."""
    usage = read_usage(golem_id=payer.live.golem.pk, api_key_id=None, heartbeat_tick=0, now=clock.now())
    return usage.day_micro_usd


def test_no_payment_is_larger_than_the_owner_lets_one_action_be(payer: Payer) -> None:
    limit(payer, per_transaction_micro_usd=1_500_000)
    assert payer.refuse(LIMIT)["code"] == LIMIT
    small = payer.payee.ask(payer.payee.item(amount=str(USD)))
    assert payer.preview(small)[0] == 200
    assert payer.refuse(LIMIT, payer.payee.ask(payer.payee.item(UPTO)))["code"] == LIMIT, "the most counts"


def test_payments_that_nobody_settled_yet_are_of_the_days_budget_until_they_end(payer: Payer) -> None:
    before = held(payer)
    limit(payer, per_day_micro_usd=before + 3_000_000, per_tick_micro_usd=10**12, per_session_micro_usd=10**12)
    payment = payer.pay()
    assert abs(held(payer) - before - 2_000_000) < 20_000
    payer.refuse(LIMIT, reference="a second one")
    payer.live.world.rpc.call("evm_increaseTime", 400)
    payer.live.world.rpc.call("evm_mine")
    now = clock.now() + timedelta(minutes=7)
    for minutes in (0, 2):
        check_signed_promises(now=now + timedelta(minutes=minutes))
    assert held(payer) == before and not payer.payee.settle(payment)
    assert payer.payee.settle(payer.pay(reference="a second one"))
    payer.follow(SignedPromise.objects.get(state="OPEN"))
    assert abs(held(payer) - before - 2_000_000) < 20_000, "what was settled is spent"


def test_a_settled_payment_stands_in_the_months_statement_and_in_its_file(payer: Payer) -> None:
    payment, golem = payer.pay(), payer.live.golem
    assert payer.payee.settle(payment)
    row = payer.follow(SignedPromise.objects.get())
    owner = Client()
    payer.live.owner.groups.add(ensure_owner_group())
    owner.force_login(payer.live.owner)
    shown = owner.get(page("archetypes_app.golem", "statement", golem.pk), {"month": f"{row.ended_at:%Y-%m}"})
    text = shown.content.decode()
    assert "x402 payments" in text and "Pay 2 USDC" in text and payer.payee.address in text
    answer = owner.get(page("archetypes_app.golem", "csv", golem.pk, "promises"))
    [told] = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))  # type: ignore[attr-defined]
    assert (told["state"], told["paid_to"]) == ("FILLED", payer.payee.address)
    assert (told["gives"], told["reference"]) == (f"{2 * USD} {payer.payee.usdc}", payment["payment_id"])
    assert payment["payload"]["signature"] not in str(told)


@contextmanager
def open_shop(payee: Payee, *, gives: int, settles: bool = True) -> Iterator[str]:
    """A payee's server: asks for money, takes it, and answers who paid with the status `gives`."""

    class Shop(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            handed = self.headers.get("PAYMENT-SIGNATURE")
            if handed is None:
                self.send_response(402)
                self.send_header("PAYMENT-REQUIRED", payee.ask(url=f"http://{self.headers['Host']}{self.path}"))
            else:
                paid = not settles or payee.settle(json.loads(base64.b64decode(handed)))
                self.send_response(gives if paid else 402)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/paris"
    finally:
        server.shutdown()
        server.server_close()


def ask_shop(url: str, payment: dict[str, Any] | None = None) -> tuple[int, str]:
    """The status, and what is asked for."""
    told = base64.b64encode(json.dumps(payment).encode()).decode() if payment else ""
    headers = {"PAYMENT-SIGNATURE": told} if told else {}
    try:
        with urlopen(Request(url, headers=headers), timeout=30) as answer:
            return int(answer.status), ""
    except HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.headers.get("PAYMENT-REQUIRED", "")


def test_an_agent_asks_is_asked_for_money_pays_and_is_answered(payer: Payer) -> None:
    with open_shop(payer.payee, gives=200) as url:
        status, asked = ask_shop(url)
        assert status == 402
        payment = payer.pay(asked)
        assert ask_shop(url, payment)[0] == 200
        assert ask_shop(url, payment)[0] == 402, "the same payment again"
    assert payer.payee.balance() == 2 * USD and payer.status(payment)["status"] == "settled"


def test_a_read_that_is_refused_after_it_was_paid_is_not_paid_again_and_the_chain_tells_who_has_the_money(
    payer: Payer,
) -> None:
    with open_shop(payer.payee, gives=500) as url:
        payment = payer.pay(ask_shop(url)[1])
        assert ask_shop(url, payment)[0] == 500
        told = payer.status(payment)
        assert (told["status"], told["paid"]) == ("settled", str(2 * USD)), "whatever the payee says"
        problem = payer.refuse("PAYMENT_SIGNED_ALREADY", ask_shop(url)[1])
        assert problem["payment_id"] == payment["payment_id"]
    assert payer.payee.balance() == 2 * USD


def test_a_payee_that_refuses_and_settles_later_is_paid_once_and_within_its_time(payer: Payer) -> None:
    with open_shop(payer.payee, gives=503, settles=False) as url:
        payment = payer.pay(ask_shop(url)[1])
        assert ask_shop(url, payment)[0] == 503
        assert payer.status(payment)["status"] == "open", "it may be settled still"
        payer.refuse("PAYMENT_SIGNED_ALREADY", ask_shop(url)[1])
    assert payer.payee.settle(payment) and not payer.payee.settle(payment)
    assert payer.status(payment)["status"] == "settled" and payer.payee.balance() == 2 * USD


def ask_assessor(payer: Payer, permit_id: str) -> dict[str, Any]:
    """What the risk-assessor says of a permit."""
    about = {"target": "risk-assessor", "instruction": "Judge it", "context": permit_id}
    status, asked = payer.post("preview_action", action_type="delegate", venue="golem", **about)
    assert status == 200, asked
    _, done = payer.post("commit_action", permit_id=asked["permit_id"])
    assert done["status"] == "COMMITTED", done
    answer: dict[str, Any] = done["result"]["data"]
    return answer


def test_a_second_opinion_on_a_payment_is_of_what_would_be_signed(payer: Payer) -> None:
    _, permit = payer.preview()
    answer = ask_assessor(payer, permit["permit_id"])
    assert (answer["verdict"], answer["reasons"]) == ("APPROVE", [])
    assert answer["figures"]["spends_at_most_usd"] == "$2.00"
    assert "simulated again at the newest block" not in answer["checks"], "nothing runs before it is signed"
    limit(payer, per_transaction_micro_usd=1_000_000)
    answer = ask_assessor(payer, permit["permit_id"])
    assert answer["verdict"] == "VETO" and "in one transaction" in str(answer["reasons"])
