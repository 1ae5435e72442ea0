"""Where Uniswap V2 and V3 are deployed, chain by chain, as data.

The public chains are the facts of the npm packages `@uniswap/sdk-core` 7.19.4 and, for QuoterV2 on the chains
where that package names the older quoter, `@uniswap/smart-order-router` 4.31.10. The local chain's addresses
come from the deployment file that the local world writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tools_app.chain.deployments import Deployment as KnownContracts
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.protocols.uniswap.liquidity_mining.addresses import mining_by_key
from tools_app.protocols.uniswap.v4.addresses import v4_by_key

NAME = "uniswap"
"""The venue agents say, and the first word of positions here."""
LOCAL_CHAIN_ID = 31_337


@dataclass(frozen=True, slots=True)
class UniswapDeployment:
    """The contracts of one chain; every address is checksummed. `v3_router` is SwapRouter02, `v2_router` Router02."""

    chain_id: int
    wrapped_native: str
    v2_factory: str
    v2_router: str
    v3_factory: str
    v3_router: str
    v3_position_manager: str
    v3_quoter: str


_PUBLIC = {
    1: UniswapDeployment(
        chain_id=1,
        wrapped_native="0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
        v2_factory="0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f",
        v2_router="0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D",
        v3_factory="0x1F98431c8aD98523631AE4a59f267346ea31F984",
        v3_router="0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
        v3_position_manager="0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
        v3_quoter="0x61fFE014bA17989E743c5F6cB21bF9697530B21e",
    ),
    8453: UniswapDeployment(
        chain_id=8453,
        wrapped_native="0x4200000000000000000000000000000000000006",
        v2_factory="0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6",
        v2_router="0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
        v3_factory="0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
        v3_router="0x2626664c2603336E57B271c5C0b26F421741e481",
        v3_position_manager="0x03a520b32C04BF3bEEf7BEb72E919cf822Ed34f1",
        v3_quoter="0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a",
    ),
    130: UniswapDeployment(
        chain_id=130,
        wrapped_native="0x4200000000000000000000000000000000000006",
        v2_factory="0x1F98400000000000000000000000000000000002",
        v2_router="0x284F11109359a7e1306C3e447ef14D38400063FF",
        v3_factory="0x1F98400000000000000000000000000000000003",
        v3_router="0x73855d06DE49d0fe4A9c42636Ba96c62da12FF9C",
        v3_position_manager="0x943e6e07a7E8E791dAFC44083e54041D743C46E9",
        v3_quoter="0x565AC8C7863d9bB16D07E809fF49Fe5CD467634C",
    ),
    42161: UniswapDeployment(
        chain_id=42161,
        wrapped_native="0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
        v2_factory="0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9",
        v2_router="0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
        v3_factory="0x1F98431c8aD98523631AE4a59f267346ea31F984",
        v3_router="0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
        v3_position_manager="0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
        v3_quoter="0x61fFE014bA17989E743c5F6cB21bF9697530B21e",
    ),
    10: UniswapDeployment(
        chain_id=10,
        wrapped_native="0x4200000000000000000000000000000000000006",
        v2_factory="0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf",
        v2_router="0x4A7b5Da61326A6379179b40d00F57E5bbDC962c2",
        v3_factory="0x1F98431c8aD98523631AE4a59f267346ea31F984",
        v3_router="0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
        v3_position_manager="0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
        v3_quoter="0x61fFE014bA17989E743c5F6cB21bF9697530B21e",
    ),
    137: UniswapDeployment(
        chain_id=137,
        wrapped_native="0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
        v2_factory="0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C",
        v2_router="0xedf6066a2b290C185783862C7F4776A2C8077AD1",
        v3_factory="0x1F98431c8aD98523631AE4a59f267346ea31F984",
        v3_router="0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
        v3_position_manager="0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
        v3_quoter="0x61fFE014bA17989E743c5F6cB21bF9697530B21e",
    ),
    56: UniswapDeployment(
        chain_id=56,
        wrapped_native="0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
        v2_factory="0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6",
        v2_router="0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
        v3_factory="0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7",
        v3_router="0xB971eF87ede563556b2ED4b1C0b0019111Dd85d2",
        v3_position_manager="0x7b8A01B39D58278b5DE7e48c8449c9f4F5170613",
        v3_quoter="0x78D78E420Da98ad378D7799bE8f4AF69033EB077",
    ),
    43114: UniswapDeployment(
        chain_id=43114,
        wrapped_native="0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
        v2_factory="0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C",
        v2_router="0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
        v3_factory="0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD",
        v3_router="0xbb00FF08d01D300023C629E8fFfFcb65A5a578cE",
        v3_position_manager="0x655C406EBFa14EE2006250925e54ec43AD184f8B",
        v3_quoter="0xbe0F5544EC67e9B3b2D979aaA43f18Fd87E6257F",
    ),
}

CHAINS = frozenset({*_PUBLIC, LOCAL_CHAIN_ID})
"""Every chain the `uniswap_*` tools serve."""


def deployment_on(chain_id: int) -> UniswapDeployment:
    """Uniswap's contracts on a chain. Raises ChainNotSupported."""
    found = find_deployment(chain_id)
    if found is None:
        raise ChainNotSupported(f"Uniswap is not served on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return found


def find_deployment(chain_id: int) -> UniswapDeployment | None:
    """Uniswap's contracts on a chain; None where it is not."""
    if chain_id != LOCAL_CHAIN_ID:
        return _PUBLIC.get(chain_id)
    return _read_local(load_deployment(KNOWN_NETWORKS[LOCAL_CHAIN_ID]))


def contracts_on(chain_id: int) -> Mapping[str, str] | None:
    """The same by the keys of `protocol.py`; None where Uniswap is not."""
    found = find_deployment(chain_id)
    return _by_key(found) if found is not None else None


_LOCAL_NAMES = {
    "v2_factory": "uniswap_v2_factory",
    "v2_router": "uniswap_v2_router",
    "v3_factory": "uniswap_v3_factory",
    "v3_router": "uniswap_v3_swap_router_02",
    "v3_position_manager": "uniswap_v3_position_manager",
    "v3_quoter": "uniswap_v3_quoter_v2",
}


# Both are asked for in every decision, many times over.
@lru_cache(maxsize=8)
def _read_local(known: KnownContracts) -> UniswapDeployment | None:
    names = ("weth9", *_LOCAL_NAMES.values())
    if any(name not in known.contracts for name in names):
        return None
    addresses = {key: known.contracts[name] for key, name in _LOCAL_NAMES.items()}
    return UniswapDeployment(LOCAL_CHAIN_ID, known.contracts["weth9"], **addresses)


@lru_cache(maxsize=64)
def _by_key(deployment: UniswapDeployment) -> Mapping[str, str]:
    chain_id = deployment.chain_id
    own = {key: getattr(deployment, key) for key in _LOCAL_NAMES}
    return {**own, **v4_by_key(chain_id), **mining_by_key(chain_id)}
