"""Somebody with a wallet who buys reads of golems: with the standard's own client, and by hand."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import requests
from eth_account.signers.local import LocalAccount
from x402 import x402ClientSync
from x402.client_base import SpendControlAsset, SpendControls
from x402.extensions.payment_identifier import append_payment_identifier_to_extensions
from x402.http.clients.requests import x402_requests
from x402.http.utils import decode_payment_required_header, decode_payment_response_header
from x402.mechanisms.evm.exact import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

from tests.evm.world import World

USD = 10**6
PRICE = USD // 20
WORD = "a_word_of_the_buyers_own"


@dataclass
class Buyer:
    """`url` is the address of one read."""

    world: World
    account: LocalAccount
    url: str

    @property
    def client(self) -> x402ClientSync:
        """Pays in the chain's USDC, which the package has no list for, and at most a dollar."""
        client = register_exact_evm_client(x402ClientSync(), EthAccountSigner(self.account))
        asset = SpendControlAsset(
            network=f"eip155:{self.world.chain_id}", asset=self.usdc, max_amount_per_payment=str(USD)
        )
        client.set_spend_controls(SpendControls(allowed_assets=[asset]))
        return client

    @property
    def usdc(self) -> str:
        return self.world.tokens["USDC"].address

    def balance(self, address: str) -> int:
        """Base units of USDC."""
        return self.world.rpc.balance_of(self.usdc, address)

    def buy(self, **params: Any) -> requests.Response:
        """As the client does it: asked, paid, answered."""
        with x402_requests(self.client) as session:
            return session.post(self.url, json=params, timeout=60)

    def ask(self, payment: dict[str, Any] | None = None, url: str = "", **params: Any) -> requests.Response:
        """One request, with a payment in its header or without."""
        headers = {}
        if payment is not None:
            headers["PAYMENT-SIGNATURE"] = base64.b64encode(json.dumps(payment).encode()).decode()
        return requests.post(url or self.url, json=params, headers=headers, timeout=60)

    def sign(self, **params: Any) -> dict[str, Any]:
        """What the client would hand in, before base64."""
        return self.sign_for(self.ask(**params).headers["PAYMENT-REQUIRED"])

    def sign_for(self, header: str, *, word: str | None = WORD) -> dict[str, Any]:
        """The same, for a header; with a word of the buyer's own, or without."""
        asked = decode_payment_required_header(header)
        payment: dict[str, Any] = self.client.create_payment_payload(asked).model_dump(by_alias=True, exclude_none=True)
        extensions = payment.pop("extensions", None) or {}
        if word is not None:
            payment["extensions"] = append_payment_identifier_to_extensions(
                dict(getattr(asked, "extensions", None) or extensions), word
            )
        return payment


def read_receipt(answer: requests.Response) -> Any:
    """The header PAYMENT-RESPONSE as the package reads it."""
    return decode_payment_response_header(answer.headers["PAYMENT-RESPONSE"])
