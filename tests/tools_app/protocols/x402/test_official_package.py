"""What golems sign, before the payees' own package: its headers, its checks, its settlement, with nothing of ours."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from x402 import x402FacilitatorSync
from x402.http.utils import decode_payment_signature_header, encode_payment_required_header
from x402.mechanisms.evm import FacilitatorWeb3Signer
from x402.mechanisms.evm.exact import ExactEvmFacilitatorScheme
from x402.mechanisms.evm.upto import UptoEvmFacilitatorScheme
from x402.schemas import PaymentPayload, PaymentRequired, PaymentRequirements

from tests.evm.world import CHAIN_ID
from tests.tools_app.protocols.x402.payee import USD, Payee
from tests.tools_app.protocols.x402.payer import Payer

pytestmark = pytest.mark.protocols("uniswap_x", "x402")


def open_facilitator(payee: Payee) -> x402FacilitatorSync:
    """The package's facilitator, whose account settles on the local chain."""
    signer = FacilitatorWeb3Signer(private_key=payee.facilitator.key.hex(), rpc_url=payee.world.rpc_url)
    facilitator = x402FacilitatorSync()
    facilitator.register([f"eip155:{CHAIN_ID}"], ExactEvmFacilitatorScheme(signer))
    facilitator.register([f"eip155:{CHAIN_ID}"], UptoEvmFacilitatorScheme(signer))
    return facilitator


def ask(payee: Payee, item: dict[str, Any]) -> str:
    """The header as the package writes it."""
    told = json.loads(base64.b64decode(payee.ask(item)))
    return encode_payment_required_header(PaymentRequired.model_validate(told))


def hand_in(payment: dict[str, Any]) -> PaymentPayload:
    """The header PAYMENT-SIGNATURE, as the package reads it."""
    told = {name: value for name, value in payment.items() if name != "payment_id"}
    read = decode_payment_signature_header(base64.b64encode(json.dumps(told).encode()).decode())
    assert isinstance(read, PaymentPayload)
    return read


@pytest.mark.parametrize(("scheme", "taken"), [("exact", 2 * USD), ("upto", USD // 4)])
def test_the_payees_own_package_takes_what_was_signed_once(payer: Payer, scheme: str, taken: int) -> None:
    payee = payer.payee
    asked, facilitator = PaymentRequirements.model_validate(payee.item(scheme)), open_facilitator(payee)
    payment = payer.pay(ask(payee, payee.item(scheme)))
    handed = hand_in(payment)
    verified = facilitator.verify(handed, asked)
    assert verified.is_valid and verified.payer == payer.live.golem.address, verified
    settling = asked.model_copy(update={"amount": str(taken)}) if scheme == "upto" else asked
    settled = facilitator.settle(handed, settling)
    assert settled.success and payee.balance() == taken, settled
    told = payer.status(payment)
    assert (told["status"], told["paid"]) == ("settled", str(taken))
    again = facilitator.settle(handed, settling)
    assert not again.success and payee.balance() == taken, "a replay"


@pytest.mark.parametrize(
    "changed", [{"amount": str(2 * USD + 1)}, {"pay_to": "0x" + "55" * 20}, {"asset": "0x" + "66" * 20}]
)
def test_the_package_refuses_what_was_signed_for_something_else(payer: Payer, changed: dict[str, str]) -> None:
    asked = PaymentRequirements.model_validate(payer.payee.item()).model_copy(update=changed)
    facilitator, handed = open_facilitator(payer.payee), hand_in(payer.pay())
    assert not facilitator.verify(handed, asked).is_valid
    assert not facilitator.settle(handed, asked).success and payer.payee.balance() == 0


def test_a_facilitator_that_lies_is_held_to_the_chain(payer: Payer) -> None:
    payment = payer.pay()
    handed, asked = hand_in(payment), PaymentRequirements.model_validate(payer.payee.item())
    facilitator = open_facilitator(payer.payee)
    assert facilitator.verify(handed, asked).is_valid
    assert payer.status(payment)["status"] == "open", "whoever says that it was settled"
    assert facilitator.settle(handed, asked).success
    assert payer.status(payment)["status"] == "settled", "whoever says that it was not"
