"""Lists where payments are settled, as data: the PyPI package `x402` 2.25.0, its makers' own
(`mechanisms/evm/constants.py`).

The two proxies have one address each on every chain, and so has Permit2, which takes what they ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported

NAME: Final = "x402"
LABEL: Final = "x402 payments"
LOCAL_CHAIN_ID: Final = 31_337
EXACT, UPTO = "exact", "upto"
_PROXIES: Final = MappingProxyType(
    {
        EXACT: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
        UPTO: "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
    }
)
CHAINS: Final = frozenset({8453, LOCAL_CHAIN_ID})


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The proxies by their scheme; None where there are none."""
    return _PROXIES if chain_id in CHAINS else None


def proxy_on(chain_id: int, scheme: str) -> str:
    """The proxy of a scheme. Raises ChainNotSupported."""
    if chain_id not in CHAINS:
        raise ChainNotSupported(
            f"x402 payments are signed on {', '.join(map(str, sorted(CHAINS)))} and not on chain {chain_id}",
            chain_id=chain_id,
            chains=sorted(CHAINS),
        )
    return _PROXIES[scheme]
