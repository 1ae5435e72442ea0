"""The service behind the `uniswap_api_*` tools, and their family. Without an owner's key none of them exists."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap.addresses import LOCAL_CHAIN_ID, NAME
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.outside_services import OutsideService, declare_service

API: Final = declare_service(
    OutsideService(
        name="uniswap_api",
        label="Uniswap Trading API",
        url="https://trade-api.gateway.uniswap.org/v1",
        lends="Quotes over every version and order kind, orders, and calldata, which is checked byte for byte here.",
        key_header="x-api-key",
        get_key_at="https://developers.uniswap.org",
        questions_an_hour=240,
    )
)
HEADERS: Final = (("x-universal-router-version", "2.0"),)
"""The same in every question of one journey, as the vendor asks."""
CHAINS: Final = frozenset({1, 8453, 42161, 10, 137, LOCAL_CHAIN_ID})

uniswap_api = ToolFamily(
    prefix="uniswap",
    category=Category.TRADING,
    chains=CHAINS,
    picks_chain=True,
    venue=NAME,
    requires=frozenset({API.need}),
)
uniswap_api_anywhere = ToolFamily(
    prefix="uniswap",
    category=Category.TRADING,
    chains=CHAINS,
    venue=NAME,
    requires=frozenset({API.need}),
)
"""For what its parameters, or the service, name the chain of."""
