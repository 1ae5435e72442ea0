"""The proxies are where the standard's own package says, and elsewhere nothing is asked of a chain."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

import pytest
from x402.mechanisms.evm import constants

from tools_app.chain.networks import ChainNotSupported
from tools_app.protocols.x402.addresses import CHAINS, EXACT, LOCAL_CHAIN_ID, UPTO, deployments
from tools_app.runner import check_chain
from tools_app.standards.x402 import price_offers
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import GolemView

_NOBODYS: Final = GolemView(uuid4(), "a golem", "0x" + "12" * 20, LOCAL_CHAIN_ID, "USDC", Phase.THRIVING)


def test_who_pays_and_who_is_paid_name_the_proxies_of_the_package() -> None:
    published = {
        EXACT: constants.X402_EXACT_PERMIT2_PROXY_ADDRESS,
        UPTO: constants.X402_UPTO_PERMIT2_PROXY_ADDRESS,
    }
    for chain_id in CHAINS:
        assert dict(deployments(chain_id) or {}) == published
    assert {EXACT: price_offers.EXACT_PROXY, UPTO: price_offers.UPTO_PROXY} == published


@pytest.mark.parametrize("name", ["x402_approve", "x402_pay", "x402_cancel_payment", "x402_get_payment"])
def test_on_a_chain_without_them_each_is_refused_with_those_that_have_them_before_anything_is_asked(name: str) -> None:
    with pytest.raises(ChainNotSupported) as refused:
        check_chain(tool=REGISTRY.get(name), params={"chain_id": 1}, golem=_NOBODYS)
    assert refused.value.data["supported_chain_ids"] == sorted(CHAINS)
