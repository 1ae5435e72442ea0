"""The committed table of what lies where in the local world: `tools_app/chain/deployments/31337.json`."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.accounts import CHAIN_ID
from golem_project.embedded.world.artifacts import Artifacts
from golem_project.embedded.world.build import BuiltWorld
from golem_project.embedded.world.seed_data import TOKENS
from golem_project.embedded.world.world_table import (
    NativeCoin,
    PoolCodeHashes,
    PoolEntry,
    WorldContracts,
    WorldTable,
    WorldToken,
)

DEPLOYMENTS_FILE = CHECKOUT / "tools_app" / "chain" / "deployments" / f"{CHAIN_ID}.json"
NATIVE_SYMBOL = "ETH"


def hash_pool_code(artifacts: Artifacts) -> PoolCodeHashes:
    """The hashes from which pool addresses follow; 0x-prefixed keccak of the pools' creation code."""
    pair = artifacts.creation_code("uniswap_v2_core", "build/UniswapV2Pair.json")
    pool_file = "artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
    pool = artifacts.creation_code("uniswap_v3_core", pool_file)
    return PoolCodeHashes("0x" + keccak(pair).hex(), "0x" + keccak(pool).hex())


def describe_world(world: BuiltWorld, artifacts: Artifacts) -> WorldTable:
    """The table as it is committed."""
    deployed = world.deployed
    tokens = [
        WorldToken(
            symbol=token.symbol,
            name=token.name,
            address=deployed.tokens[token.symbol],
            decimals=token.decimals,
            simulated=token.contract is not None,
            feed=deployed.feeds[token.symbol],
            traits=tuple(token.traits),
        )
        for token in TOKENS
    ]
    pools = [
        PoolEntry(
            address=pool.address,
            version=pool.version,
            token0=deployed.tokens[pool.symbol0],
            token1=deployed.tokens[pool.symbol1],
            fee_tier=pool.pool.fee_tier,
        )
        for pool in world.pools
    ]
    return WorldTable(
        chain_id=CHAIN_ID,
        contracts=WorldContracts(**{field.name: deployed.contracts[field.name] for field in fields(WorldContracts)}),
        tokens=tuple(tokens),
        native=NativeCoin(symbol=NATIVE_SYMBOL, decimals=18, feed=deployed.feeds[NATIVE_SYMBOL]),
        pools=tuple(pools),
        init_code_hashes=hash_pool_code(artifacts),
    )


def render(table: WorldTable) -> str:
    """The file's text."""
    return json.dumps(asdict(table), indent=2) + "\n"


def check_committed(table: WorldTable, path: Path = DEPLOYMENTS_FILE) -> None:
    """Raises EmbeddedError when the committed table is not that of the world just built."""
    committed = path.read_text() if path.exists() else ""
    if committed != render(table):
        raise EmbeddedError(
            f"{path.name} is not what the local world deploys. Fix: python -m golem_project.embedded.world "
            "addresses --write, and commit it."
        )
