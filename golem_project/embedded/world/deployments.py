"""The committed table of what lies where in the local world: `tools_app/chain/deployments/31337.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.accounts import CHAIN_ID
from golem_project.embedded.world.artifacts import Artifacts
from golem_project.embedded.world.build import BuiltWorld
from golem_project.embedded.world.figures import TOKENS

DEPLOYMENTS_FILE = CHECKOUT / "tools_app" / "chain" / "deployments" / f"{CHAIN_ID}.json"
CONTRACT_KEYS = (
    "weth9",
    "uniswap_v2_factory",
    "uniswap_v2_router",
    "uniswap_v3_factory",
    "uniswap_v3_swap_router",
    "uniswap_v3_swap_router_02",
    "uniswap_v3_position_manager",
    "uniswap_v3_quoter_v2",
    "permit2",
    "multicall3",
    "safe",
    "safe_proxy_factory",
    "safe_fallback_handler",
    "safe_multi_send",
    "safe_multi_send_call_only",
)


def hash_pool_code(artifacts: Artifacts) -> dict[str, str]:
    """The hashes from which pool addresses follow; 0x-prefixed keccak of the pools' creation code."""
    pair = artifacts.creation_code("uniswap_v2_core", "build/UniswapV2Pair.json")
    pool_file = "artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
    pool = artifacts.creation_code("uniswap_v3_core", pool_file)
    return {"uniswap_v2": "0x" + keccak(pair).hex(), "uniswap_v3": "0x" + keccak(pool).hex()}


def describe_world(world: BuiltWorld, artifacts: Artifacts) -> dict[str, Any]:
    """The table as it is committed."""
    deployed = world.deployed
    return {
        "chain_id": CHAIN_ID,
        "contracts": {key: deployed.contracts[key] for key in CONTRACT_KEYS},
        "tokens": [
            {
                "symbol": token.symbol,
                "name": token.name,
                "address": deployed.tokens[token.symbol],
                "decimals": token.decimals,
                "simulated": token.contract is not None,
                "feed": deployed.feeds[token.symbol],
                "traits": list(token.traits),
            }
            for token in TOKENS
        ],
        "native": {"symbol": "ETH", "decimals": 18, "feed": deployed.feeds["ETH"]},
        "pools": [
            {
                "address": pool.address,
                "version": pool.version,
                "token0": deployed.tokens[pool.symbol0],
                "token1": deployed.tokens[pool.symbol1],
                "fee_tier": pool.pool.fee_tier,
            }
            for pool in world.pools
        ],
        "init_code_hashes": hash_pool_code(artifacts),
    }


def render(description: dict[str, object]) -> str:
    """The file's text."""
    return json.dumps(description, indent=2) + "\n"


def check_committed(description: dict[str, object], path: Path = DEPLOYMENTS_FILE) -> None:
    """Raises EmbeddedError when the committed table is not that of the world just built."""
    committed = path.read_text() if path.exists() else ""
    if committed != render(description):
        raise EmbeddedError(
            f"{path.name} is not what the local world deploys. Fix: python -m golem_project.embedded.world "
            "addresses --write, and commit it."
        )
