"""Lists where Curve's pool of three dollars is, its gauge, who pays the gauge's rewards, and Convex over it, as data.

The public addresses of Curve are those of the npm package `@curvefi/api` 2.70.1, its makers' own. No package carries
those of Convex: every tool of it asks its deposit contract whether LP token and place of rewards are those of the
pool's number. The local ones follow from the account that deploys our own contracts there. No CRV and
no CVX with a price is on the local chain: WBTC and WETH are paid in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.standards.stable_pool_lp_value import RewardToken, StablePool

NAME: Final = "curve"
LOCAL_CHAIN_ID: Final = 31_337
POOL: Final = "pool_3pool"
LP: Final = "lp_3pool"
GAUGE: Final = "gauge_3pool"
MINTER: Final = "minter"
CONTROLLER: Final = "controller"
BOOSTER: Final = "convex_booster"
CONVEX_REWARDS: Final = "convex_rewards_3pool"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType(
            {
                POOL: "0xbEbc44782C7dB0a1A60Cb6fe97d0b483032FF1C7",
                LP: "0x6c3F90f043a72FA612cbac8115EE7e52BDe6E490",
                GAUGE: "0xbFcF63294aD7105dEa65aA58F8AE5BE2D9d0952A",
                MINTER: "0xd061D61a4d941c39E5453435B6345Dc261C2fcE0",
                CONTROLLER: "0x2F50D538606Fa9EDD2B11E2446BEb18C9D5846bB",
                BOOSTER: "0xF403C135812408BFbE8713b5A23a04b3D48AAE31",
                CONVEX_REWARDS: "0x689440f2Ff927E1f24c72F1087E1FAF471eCe1c8",
            }
        ),
        LOCAL_CHAIN_ID: MappingProxyType(
            {
                LP: "0xc975aC16E0e559216b05E92E1553ceF597Fa86b4",
                POOL: "0x28bdBaa4c972DAdaa230f3285A7504f053c79a62",
                GAUGE: "0xDb2Ad1eC0b5a88E128BCcF710A972d976061B807",
                MINTER: "0xE634567639cA25E23eaAAE7BcF68288943ac3e57",
                BOOSTER: "0xD028d49fD7C642214C3695B577985B4A5b04908D",
                CONVEX_REWARDS: "0x26E498851a4FFf2157e8c2b6bf1a7667E7262f16",
            }
        ),
    }
)
_PUBLIC_CRV: Final = "0xD533a949740bb3306d119CC777fa900bA034cd52"
_PUBLIC_CVX: Final = "0x4e3FBD56CD56c3e72c1403e103b45Db9da5B9D2B"
_NUMBERS: Final[Mapping[int, int]] = MappingProxyType({1: 9, LOCAL_CHAIN_ID: 0})
_COINS: Final = ("DAI", "USDC", "USDT")
CHAINS: Final = frozenset(_DEPLOYMENTS)


@dataclass(frozen=True, slots=True)
class Place:
    """A pool of a chain with its gauge, who pays the gauge's reward, and who weighs gauges.

    At Convex it has a `number`, a place of `convex_rewards`, and a reward of Convex's `own` beside the gauge's.
    """

    pool: StablePool
    gauge: str
    minter: str
    controller: str
    reward: RewardToken
    booster: str
    convex_rewards: str
    number: int
    own: RewardToken


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts by key, checksummed; None where there are none."""
    return _DEPLOYMENTS.get(chain_id)


def find_places(chain_id: int) -> tuple[Place, ...]:
    """The known pools of a chain."""
    at = deployments(chain_id)
    if at is None:
        return ()
    by_symbol = {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    pool = StablePool(at[POOL], at[LP], tuple(by_symbol[symbol] for symbol in _COINS), "3Crv")
    local = chain_id == LOCAL_CHAIN_ID
    reward = RewardToken(by_symbol["WBTC"], "WBTC", 8) if local else RewardToken(_PUBLIC_CRV, "CRV", 18)
    own = RewardToken(by_symbol["WETH"], "WETH", 18) if local else RewardToken(_PUBLIC_CVX, "CVX", 18)
    # Our own minter weighs its one gauge itself.
    controller = at.get(CONTROLLER, at[MINTER])
    over = (at[BOOSTER], at[CONVEX_REWARDS], _NUMBERS[chain_id], own)
    return (Place(pool, at[GAUGE], at[MINTER], controller, reward, *over),)


def find_place(chain_id: int, address: str) -> Place | None:
    """The known pool of an address: its own, its LP token's or its gauge's."""
    return next(
        (each for each in find_places(chain_id) if address in (each.pool.address, each.pool.lp, each.gauge)), None
    )


def places_on(chain_id: int) -> tuple[Place, ...]:
    """The known pools. Raises ChainNotSupported."""
    if chain_id not in CHAINS:
        raise ChainNotSupported(
            f"no pool of Curve is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return find_places(chain_id)
