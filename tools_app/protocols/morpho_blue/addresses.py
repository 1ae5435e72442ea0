"""Lists where Morpho Blue is deployed, and the markets that are known by name, chain by chain, as data.

The public chains are the facts of the npm package `@morpho-org/morpho-ts` 2.8.0, the public markets those of
`@morpho-org/morpho-test` 4.0.3, both the authors' own. The local addresses follow from the account that deploys there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.morpho_blue.market import MarketParams

NAME: Final = "morpho"
LOCAL_CHAIN_ID: Final = 31_337
MORPHO: Final = "morpho"

_SINGLETON: Final = "0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb"
_PUBLIC: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        chain_id: MappingProxyType({MORPHO: morpho, "adaptive_curve_irm": irm})
        for chain_id, morpho, irm in (
            (1, _SINGLETON, "0x870aC11D48B15DB9a138Cf899d20F13F79Ba00BC"),
            (10, "0xce95AfbB8EA029495c66020883F87aaE8864AF92", "0x8cD70A8F399428456b29546BC5dBe10ab6a06ef6"),
            (130, "0x8f5ae9CddB9f68de460C77730b018Ae7E04a140A", "0x9a6061d51743B31D2c3Be75D83781Fa423f53F0E"),
            (137, "0x1bF0c2541F820E775182832f06c0B7Fc27A25f67", "0xe675A2161D4a6E2de2eeD70ac98EEBf257FBF0B0"),
            (8453, _SINGLETON, "0x46415998764C29aB2a25CbeA6254146D50D22687"),
            (42161, "0x6c247b1F6182318877311737BaC0844bAa518F5e", "0x66F30587FB8D4206918deb78ecA7d5eBbafD06DA"),
        )
    }
)
LOCAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        MORPHO: "0x0Bc1Ec3e3e0181874CaCB3277e59FaB305880980",
        "irm": "0x28373225fdBa98f252C77EaE3ae1A57216e4D2f0",
        "oracle_weth_usdc": "0x6bd280c15E4B83393481A91e06fFF9040cC21567",
        "oracle_weth_dai": "0xc874f97932144352C066Dcf66A01D9b7bF8b469c",
    }
)
_LOCAL_LLTV: Final = 86 * 10**16

_WETH, _WSTETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0"
_USDC, _USDT = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xdAC17F958D2ee523a2206206994597C13D831ec7"
_WBTC = "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599"
_BASE_WETH = "0x4200000000000000000000000000000000000006"
# chain, loan token, collateral, oracle, LLTV in percent times ten; all at the chain's adaptive curve.
_PUBLIC_MARKETS: Final = (
    (1, _WETH, _WSTETH, "0x2a01EB9496094dA03c4E364Def50f5aD1280AD72", 945),
    (1, _WETH, _WSTETH, "0xbD60A6770b27E084E8617335ddE769241B0e71D8", 945),
    (1, _WETH, _WBTC, "0xc29B3Bc033640baE31ca53F8a0Eb892AdF68e663", 915),
    (1, _USDT, _WETH, "0xe9eE579684716c7Bb837224F4c7BeEfA4f1F3d7f", 860),
    (1, _USDT, _WETH, "0xe9eE579684716c7Bb837224F4c7BeEfA4f1F3d7f", 915),
    (1, _USDT, _WBTC, "0x008bF4B1cDA0cc9f0e882E0697f036667652E1ef", 860),
    (1, _USDT, _WSTETH, "0x95DB30fAb9A3754e42423000DF27732CB2396992", 860),
    (1, _USDC, _WBTC, "0xDddd770BADd886dF3864029e4B377B5F6a2B6b83", 860),
    (1, _USDC, _WSTETH, "0x48F7E36EB6B826B2dF4B2E630B62Cd25e89E40e2", 860),
    (
        8453,
        _BASE_WETH,
        "0xc1CBa3fCea344f92D9239c08C0568f6F2F0ee452",
        "0x4A11590e5326138B514E08A9B52202D42077Ca65",
        945,
    ),
    (
        8453,
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        _BASE_WETH,
        "0xFEa2D58cEfCb9fcb597723c6bAE66fFE4193aFE4",
        860,
    ),
    (
        42161,
        "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
        "0x5979D7b546E38E414F7E9822514be443A4800529",
        "0x70dCd188B6444fefFb772b1d3273D8f2767556FE",
        945,
    ),
    (
        137,
        "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
        "0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619",
        "0x648Ff6ad9F0Cefe508AE979d7Bf4Fa48ae99CA9E",
        770,
    ),
)

WRITE_CHAINS: Final = frozenset({1, 8453, LOCAL_CHAIN_ID})
"""Where the write tools are offered."""
CHAINS: Final = frozenset({*_PUBLIC, LOCAL_CHAIN_ID})
"""Where it can be read."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts of a chain by key, checksummed; None where it is not."""
    return LOCAL if chain_id == LOCAL_CHAIN_ID else _PUBLIC.get(chain_id)


def known_markets(chain_id: int) -> tuple[MarketParams, ...]:
    """The markets of a chain that are known without being told of: those of the address book, or of the local world."""
    if chain_id == LOCAL_CHAIN_ID:
        tokens = {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
        if not tokens.keys() >= {"USDC", "DAI", "WETH"}:
            return ()
        return _local_markets(tokens["USDC"], tokens["DAI"], tokens["WETH"])
    return _public_markets(chain_id)


@lru_cache(maxsize=4)
def _local_markets(usdc: str, dai: str, weth: str) -> tuple[MarketParams, ...]:
    return tuple(
        MarketParams(loan, weth, LOCAL[oracle], LOCAL["irm"], _LOCAL_LLTV)
        for loan, oracle in ((usdc, "oracle_weth_usdc"), (dai, "oracle_weth_dai"))
    )


@lru_cache(maxsize=16)
def _public_markets(chain_id: int) -> tuple[MarketParams, ...]:
    return tuple(
        MarketParams(loan, collateral, oracle, _PUBLIC[chain_id]["adaptive_curve_irm"], tenths * 10**15)
        for chain, loan, collateral, oracle, tenths in _PUBLIC_MARKETS
        if chain == chain_id
    )
