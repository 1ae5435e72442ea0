"""Lists the markets of Moonwell that are known, chain by chain, as data.

Base: the contracts as `chains/8453.json` of its makers' repository lists them; a test compares. A market whose asset is
not registered on its chain is left out. No package carries their bytecode, so that locally contracts of ours stand in,
at the addresses that follow from the account that deploys them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.toolkit.views import NATIVE

NAME: Final = "moonwell"
LOCAL_CHAIN_ID: Final = 31_337
COMPTROLLER: Final = "comptroller"
ORACLE: Final = "oracle"
REWARDS: Final = "rewards"
MARKETS: Final[Mapping[str, str]] = MappingProxyType(
    {"market_usdc": "USDC", "market_weth": "WETH", "market_dai": "DAI"}
)
"""Keys of markets, and the registered symbol of what each lends."""
WRAPPED: Final = "WETH"
"""Its market unwraps what it pays out."""

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        8453: MappingProxyType(
            {
                COMPTROLLER: "0xfBb21d0380beE3312B33c4353c8936a0F13EF26C",
                ORACLE: "0xEC942bE8A8114bFD0396A5052c36027f2cA6a9d0",
                REWARDS: "0xe9005b078701e2A0948D2EaC43010D35870Ad9d2",
                "market_usdc": "0xEdc817A28E8B93B03976FBd4a3dDBc9f7D176c22",
                "market_weth": "0x628ff693426583D9a7FB391E54366292F509D457",
                "market_dai": "0x73b06D8d18De422E269645eaCe15400DE7462417",
            }
        ),
        LOCAL_CHAIN_ID: MappingProxyType(
            {
                COMPTROLLER: "0x4cFF6BCcbF9BE2CAE4fB9DF7b47f2d05A87331Ca",
                ORACLE: "0x7165Ee202Ebe86a331Dd9C6CB5a6BFDc162797f0",
                REWARDS: "0x384d063883763DB3090f7F220970B3B6be754304",
                "market_usdc": "0x3fa582DB0b5C247f825be9CF186b04aC167C908c",
                "market_weth": "0x7Cd84B32e56bf86a269e93B6B8C0F39cCd0bb183",
                "market_dai": "0xf0C7Afe28d050f7b6bDB67Df6b3B4A54DdF6816E",
            }
        ),
    }
)
CHAINS: Final = frozenset(_DEPLOYMENTS)


@dataclass(frozen=True, slots=True)
class Market:
    """One market: its contract, whose receipts it is too, and what it lends."""

    address: str
    asset: str
    label: str
    pays_coin: bool = False

    @property
    def paid_in(self) -> str:
        """What comes out: what it lends, or the chain's coin where that is the wrapped coin, which goes in wrapped."""
        return NATIVE if self.pays_coin else self.asset


@dataclass(frozen=True, slots=True)
class Place:
    """Moonwell on one chain."""

    chain_id: int
    comptroller: str
    oracle: str
    rewards: str
    markets: tuple[Market, ...]

    def market_of(self, asset: str) -> Market | None:
        """The market that lends a token."""
        return next((each for each in self.markets if each.asset == asset), None)

    def market_at(self, address: str) -> Market | None:
        """The market at an address."""
        return next((each for each in self.markets if each.address == address), None)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts by key, checksummed; None where none is known."""
    return _DEPLOYMENTS.get(chain_id)


def find_place(chain_id: int) -> Place | None:
    """The contracts of a chain with the markets whose asset is registered there; None where there are none."""
    at = deployments(chain_id)
    if at is None:
        return None
    tokens = {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    markets = tuple(
        Market(at[key], tokens[symbol], f"{symbol} market of Moonwell", pays_coin=symbol == WRAPPED)
        for key, symbol in MARKETS.items()
        if key in at and symbol in tokens
    )
    return Place(chain_id, at[COMPTROLLER], at[ORACLE], at[REWARDS], markets)


def place_on(chain_id: int) -> Place:
    """The same. Raises ChainNotSupported."""
    found = find_place(chain_id)
    if found is None:
        raise ChainNotSupported(f"Moonwell is not known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return found
