"""A payment that was carried out stands on the chain: whoever reads it there is told nothing of what it bought."""

from __future__ import annotations

import json
from typing import Any

import pytest
from eth_abi import decode
from eth_account import Account
from eth_account.signers.local import LocalAccount

from golem_project.a2a.models import OpenedRead
from permits_app.models import SoldAnswer
from tests.golem_project.a2a.buyer import PRICE, USD, WORD, Buyer, read_receipt
from tests.golem_project.a2a.conftest import Line, ask, run, state_of
from tests.golem_project.a2a.real_usdc import mint
from tests.golem_project.a2a.test_strangers import open_visit
from tests.golem_project.a2a.test_x402_endpoint import VISITOR, _send, hand_in
from tests.golem_project.a2a.test_x402_endpoint import buyer as buyer
from tests.golem_project.a2a.test_x402_endpoint import open_read as open_read
from tests.golem_project.pi.conftest import Agent
from tools_app.chain.abi import checksum
from tools_app.standards.permit2 import PERMIT2

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("uniswap_x", "x402")]
UNPROVEN = (403, "PAYMENT_ASKER_UNPROVEN")


def read_from_chain(buyer: Buyer, transaction: str, accepted: dict[str, Any]) -> dict[str, Any]:
    """The payment as anybody rebuilds it from what carried it out."""
    data = bytes.fromhex(buyer.world.rpc.call("eth_getTransactionByHash", transaction)["input"][2:])
    kinds = ["address", "address", "uint256", "uint256", "uint256", "bytes32", "uint8", "bytes32", "bytes32"]
    payer, payee, value, after, before, nonce, v, r, s = decode(kinds, data[4:])
    given = {
        "from": checksum(payer),
        "to": checksum(payee),
        "value": str(value),
        "validAfter": str(after),
        "validBefore": str(before),
        "nonce": "0x" + nonce.hex(),
    }
    signature = "0x" + (r + s + bytes([v])).hex()
    return {"x402Version": 2, "accepted": accepted, "payload": {"authorization": given, "signature": signature}}


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


def ask_as(buyer: Buyer, payment: dict[str, Any], token: str) -> Any:
    """With the token of a visit."""
    import base64

    import requests

    header = base64.b64encode(json.dumps(payment).encode()).decode()
    headers = {"PAYMENT-SIGNATURE": header, "Authorization": f"Bearer {token}"}
    return requests.post(buyer.url, json={}, headers=headers, timeout=60)


def test_who_reads_a_payment_from_the_chain_has_no_answer_and_who_paid_has_it_again(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign()
    first = buyer.ask(payment)
    stolen = read_from_chain(buyer, read_receipt(first).transaction, payment["accepted"])
    assert stolen["payload"] == payment["payload"], "the chain tells all of it"
    assert told(buyer.ask(stolen)) == UNPROVEN
    guess = {**stolen, "extensions": {"payment-identifier": {"info": {"required": False, "id": WORD[:-1] + "x"}}}}
    assert told(buyer.ask(guess)) == UNPROVEN
    assert told(ask_as(buyer, stolen, open_visit(live, VISITOR))) == UNPROVEN, "a wallet that paid nothing"
    assert told(ask_as(buyer, stolen, "visit_nobody"))[0] == 401
    again = buyer.ask(payment)
    assert again.json() == first.json() and read_receipt(again) == read_receipt(first)
    proven = ask_as(buyer, stolen, open_visit(live, buyer.account))
    assert proven.status_code == 200 and proven.json() == first.json()
    assert WORD not in json.dumps([str(row) for row in SoldAnswer.objects.values()])
    assert buyer.balance(str(live.golem.address)) == PRICE


def test_who_said_no_word_of_their_own_proves_the_wallet_that_paid(buyer: Buyer, live: Agent) -> None:
    payment = buyer.sign_for(buyer.ask().headers["PAYMENT-REQUIRED"], word=None)
    assert buyer.ask(payment).status_code == 200
    assert told(buyer.ask(payment)) == UNPROVEN
    assert ask_as(buyer, payment, open_visit(live, buyer.account)).status_code == 200


@pytest.mark.parametrize("word", ["short", "x" * 129, "no spaces in words", 16 * "ä", 7, ["x" * 16]])
def test_a_word_in_another_form_is_asked_for_anew_and_nothing_is_paid(buyer: Buyer, word: Any) -> None:
    payment = buyer.sign()
    payment["extensions"]["payment-identifier"]["info"]["id"] = word
    assert buyer.ask(payment).status_code == 402 and not SoldAnswer.objects.exists()


def test_over_a2a_another_visitor_with_the_same_payment_is_told_nothing(
    buyer: Buyer, live: Agent, web_port: int
) -> None:
    url = f"http://127.0.0.1:{web_port}/a2a/{live.golem.pk}"
    first, other = (Line(url, open_visit(live, each), live.golem) for each in (VISITOR, Account.create()))
    payment = buyer.sign_for(buyer.ask().headers["PAYMENT-REQUIRED"], word=None)
    states = []
    for line in (first, other, first):
        task = run(_send(line, ask("query_state", {"query": "limits"})))
        states.append(state_of({"task": run(_send(line, hand_in(task, payment)))}))
    assert states == ["COMPLETED", "REJECTED", "COMPLETED"]
    assert buyer.balance(str(live.golem.address)) == PRICE


class OfUpTo(Buyer):
    """Pays by the standard's scheme for payments of up to an amount."""

    @property
    def client(self) -> Any:
        from x402 import x402ClientSync
        from x402.client_base import SpendControlAsset, SpendControls
        from x402.mechanisms.evm.signers import EthAccountSigner
        from x402.mechanisms.evm.upto import UptoEvmClientScheme

        network = f"eip155:{self.world.chain_id}"
        client = x402ClientSync()
        client.register(network, UptoEvmClientScheme(EthAccountSigner(self.account)))
        asset = SpendControlAsset(network=network, asset=self.usdc, max_amount_per_payment=str(USD))
        client.set_spend_controls(SpendControls(allowed_assets=[asset]))
        return client


@pytest.fixture
def of_upto(buyer: Buyer) -> OfUpTo:
    """A buyer with ten real USDC, of which Permit2 may take one."""
    account: LocalAccount = buyer.world.new_account()
    mint(buyer.world, account.address, 10 * USD)
    buyer.world.transact(account, buyer.usdc, "approve(address,uint256)", PERMIT2, USD)
    return OfUpTo(buyer.world, account, buyer.url)


def test_the_standards_own_client_pays_up_to_an_amount_and_the_price_is_taken(of_upto: OfUpTo, live: Agent) -> None:
    answer = of_upto.buy()
    assert answer.status_code == 200, answer.text
    assert of_upto.balance(str(live.golem.address)) == PRICE
    row = SoldAnswer.objects.get()
    assert (row.method, row.state, int(row.raw)) == ("upto", "SOLD", PRICE)


def test_of_what_was_signed_before_the_price_fell_the_lower_price_is_taken(of_upto: OfUpTo, live: Agent) -> None:
    payment = of_upto.sign()
    OpenedRead.objects.update(price_micro_usdc=PRICE // 2)
    first = of_upto.ask(payment)
    assert first.status_code == 200, first.text
    assert of_upto.balance(str(live.golem.address)) == PRICE // 2 == int(read_receipt(first).amount)
    assert of_upto.ask(payment).json() == first.json() and of_upto.balance(str(live.golem.address)) == PRICE // 2


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        (("witness", "facilitator", "0x" + "66" * 20), "facilitator"),
        (("witness", "to", "0x" + "66" * 20), "payTo"),
        (("permitted", "amount", str(PRICE - 1)), "amount"),
        (("permitted", "amount", str(PRICE + 1)), "amount"),
    ],
)
def test_what_was_signed_up_to_for_others_or_for_less_is_not_taken(
    of_upto: OfUpTo, changed: tuple[str, str, str], word: str
) -> None:
    payment = of_upto.sign()
    where, name, value = changed
    payment["payload"]["permit2Authorization"][where][name] = value
    refused = of_upto.ask(payment)
    assert refused.status_code == 402 and word in refused.json()["detail"], refused.text
    assert not SoldAnswer.objects.exists()


def test_a_token_whose_name_is_not_what_it_signs_under_is_asked_for_through_permit2_alone(buyer: Buyer) -> None:
    def schemes() -> set[str]:
        from x402.http.utils import decode_payment_required_header

        asked = decode_payment_required_header(buyer.ask().headers["PAYMENT-REQUIRED"])
        return {str((each.extra or {}).get("assetTransferMethod", "eip3009")) for each in asked.accepts}

    assert schemes() == {"eip3009", "permit2"}
    slots = {slot: buyer.world.rpc.call("eth_getStorageAt", buyer.usdc, hex(slot), "latest") for slot in range(20)}
    word = b"USD Coin"
    [place] = [slot for slot, value in slots.items() if bytes.fromhex(value[2:]).startswith(word)]
    other = b"USD Coyn".ljust(31, b"\0") + bytes([2 * len(word)])
    buyer.world.rpc.call("anvil_setStorageAt", buyer.usdc, f"0x{place:064x}", "0x" + other.hex())
    assert schemes() == {"permit2"}
