"""Charging where the golem lives: on the second local chain, in the place of a public one, by the standard's client.

The chain is no other in anything but its number and its past, and a payer signs that number: what was signed for one is
worth nothing on the other.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from x402.http.utils import decode_payment_required_header
from x402.mechanisms.evm.default_assets import DEFAULT_ASSETS

from archetypes_app.models import Golem
from golem_project.a2a.payment_gas_account import find_address
from golem_project.embedded.world.protocols.x402 import PLACES
from golem_project.embedded.world.solidity import load_contract
from permits_app.models import SoldAnswer
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.a2a.buyer import PRICE, USD, Buyer, read_receipt
from tests.golem_project.a2a.real_usdc import mint, put_real_usdc
from tests.golem_project.a2a.test_x402_endpoint import open_read
from tests.golem_project.pi.conftest import Agent
from tests.second_chain import SECOND_ID
from tools_app.core.models import AuditEntry
from tools_app.standards.permit2 import PERMIT2

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("uniswap_x", "x402")]
BASE = "eip155:8453"


@pytest.fixture
def there(both_chains: tuple[World, World]) -> World:
    """The second chain, with the proxies of the standard."""
    assert both_chains[0].protocols["x402"]
    for contract, address in PLACES.values():
        both_chains[1].rpc.call("anvil_setCode", address, load_contract(contract).deployed_bytecode)
    return both_chains[1]


@pytest.fixture
def seller(live: Agent, there: World) -> Golem:
    """A golem that lives there and sells a read for five cents."""
    Golem.objects.filter(pk=live.golem.pk).update(home_chain_id=SECOND_ID)
    live.golem.refresh_from_db()
    open_read(live.golem)
    return live.golem


@pytest.fixture
def url(seller: Golem, web_port: int, eager_work: None) -> str:
    return f"http://127.0.0.1:{web_port}/a2a/{seller.pk}/paid/golem/limits"


@pytest.fixture
def buyer(there: World, url: str) -> Buyer:
    """Somebody with ten USDC of its makers on the second chain, and nothing on the first."""
    put_real_usdc(there)
    account = there.new_account()
    mint(there, account.address, 10 * USD)
    return Buyer(there, account, url)


def test_the_official_client_pays_on_the_golem_s_own_chain_in_the_domain_that_base_has(
    buyer: Buyer, seller: Golem
) -> None:
    [listed] = [each for each in DEFAULT_ASSETS[BASE] if each["symbol"] == "USDC"]
    asked = decode_payment_required_header(buyer.ask().headers["PAYMENT-REQUIRED"])
    offer = next(each for each in asked.accepts if "assetTransferMethod" not in (each.extra or {}))
    assert offer.network == f"eip155:{SECOND_ID}" and offer.pay_to == seller.address
    assert offer.extra == {"name": listed["name"], "version": listed["version"]}, "as the package signs it on Base"
    answer = buyer.buy()
    assert answer.status_code == 200 and "per_day" in answer.json()["data"], answer.text
    receipt = read_receipt(answer)
    assert receipt.success and receipt.network == f"eip155:{SECOND_ID}" and receipt.payer == buyer.account.address
    assert buyer.balance(str(seller.address)) == PRICE and buyer.balance(find_address()) == 0
    sold = SoldAnswer.objects.get()
    assert (int(sold.chain_id), sold.method) == (SECOND_ID, "eip3009")
    told = AuditEntry.objects.get(event="AnswerSold").data
    assert told["transaction"] == receipt.transaction
    assert buyer.world.rpc.call("eth_getTransactionReceipt", receipt.transaction)["status"] == "0x1"


def test_through_permit2_the_same_where_the_token_takes_no_authorization(there: World, url: str, seller: Golem) -> None:
    account = there.new_account(tokens={"USDC": 10 * USD})
    buyer = Buyer(there, account, url)
    before = buyer.balance(str(seller.address))
    there.transact(account, buyer.usdc, "approve(address,uint256)", PERMIT2, USD)
    asked = buyer.ask()
    assert asked.status_code == 402, asked.text
    payment = buyer.sign()
    assert buyer.ask(payment).status_code == 200 and buyer.ask(payment).status_code == 200
    assert buyer.balance(str(seller.address)) - before == PRICE
    assert (int(SoldAnswer.objects.get().chain_id), SoldAnswer.objects.get().method) == (SECOND_ID, "permit2")


def test_what_was_signed_for_one_chain_is_worth_nothing_on_another(
    buyer: Buyer, seller: Golem, both_chains: tuple[World, World]
) -> None:
    payment = buyer.sign()
    Golem.objects.filter(pk=seller.pk).update(home_chain_id=CHAIN_ID)
    put_real_usdc(both_chains[0])
    mint(both_chains[0], buyer.account.address, 10 * USD)
    refused = buyer.ask(payment)
    assert refused.status_code == 402 and "network" in refused.json()["detail"]
    # Said to be for the other chain, it is signed by nobody there.
    forged = {**payment, "accepted": {**payment["accepted"], "network": f"eip155:{CHAIN_ID}"}}
    refused = buyer.ask(forged)
    assert refused.status_code == 402 and "signature" in refused.json()["detail"], refused.json()
    here = replace(buyer, world=both_chains[0])
    assert here.balance(str(seller.address)) == 0 and buyer.balance(str(seller.address)) == 0
    assert not SoldAnswer.objects.exists()
    assert here.buy().status_code == 200
    assert here.balance(str(seller.address)) == PRICE
