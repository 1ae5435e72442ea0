"""Uniswap V4 and the Universal Router on the local chain: the real contracts, and four pools with liquidity in them.

`make run` builds it; tests do where they name it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Final

from eth_abi.abi import encode

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import sqrt_price_x96, worth

ZERO: Final = "0x" + "00" * 20
NATIVE: Final = "ETH"
ROUTER_FILE: Final = "artifacts/contracts/UniversalRouter.sol/UniversalRouter.json"
ROUTER_TYPES: Final = "((address,address,address,address,bytes32,bytes32,address,address,address,address))"
POOL_KEY: Final = "(address,address,uint24,int24,address)"
UNSUBSCRIBE_GAS: Final = 300_000
HIGHEST_TICK: Final = 887_272
FAR: Final = 2**40
MINT, SETTLE_PAIR, SWEEP = b"\x02", b"\x0d", b"\x14"
DYNAMIC_FEE: Final = 0x800000
# The low 14 bits are what the hook may do: after a pool is opened and before a swap.
HOOK: Final = "0x4444444444444444444444444444444444445080"
HOOK_FEE: Final = 2_500


@dataclass(frozen=True)
class NewPool:
    """A pool to open over the whole range; `usd` is what both sides are worth together."""

    symbols: tuple[str, str]
    fee: int
    spacing: int
    usd: int
    hooks: str = ZERO


POOLS: Final = (
    NewPool(("DAI", "USDC"), 100, 1, 6_000_000),
    NewPool(("WBTC", "USDC"), 3_000, 60, 4_000_000),
    NewPool((NATIVE, "USDC"), 500, 10, 8_000_000),
    NewPool(("DAI", "USDC"), DYNAMIC_FEE, 60, 2_000_000, HOOK),
)


def deploy(site: Site) -> dict[str, str]:
    """The contracts, a hook that sets a pool's fee, and the pools."""
    me, permit2, wrapped = site.deployer.address, site.contracts.permit2, site.contracts.weth9
    manager = site.create_from("v4_core", "out/PoolManager.sol/PoolManager.json", "(address)", me)
    descriptor = create_periphery(
        site, "PositionDescriptor", "(address,address,bytes32)", manager, wrapped, NATIVE.encode().ljust(32, b"\0")
    )
    positions = create_periphery(
        site,
        "PositionManager",
        "(address,address,uint256,address,address)",
        *(manager, permit2, UNSUBSCRIBE_GAS, descriptor, wrapped),
    )
    contracts = {
        "pool_manager": manager,
        "position_descriptor": descriptor,
        "position_manager": positions,
        "quoter": create_periphery(site, "V4Quoter", "(address)", manager),
        "state_view": create_periphery(site, "StateView", "(address)", manager),
        "universal_router": create_router(site, manager, positions),
        "fee_hook": install_hook(site, manager),
    }
    for pool in POOLS:
        open_pool(site, positions, pool)
    return contracts


def create_periphery(site: Site, contract: str, types: str, *arguments: object) -> str:
    """One contract of the periphery's package."""
    return site.create_from("v4_periphery", f"foundry-out/{contract}.sol/{contract}.json", types, *arguments)


def create_router(site: Site, manager: str, positions: str) -> str:
    """The router over all three versions. It knows no bridge: that command reverts here."""
    known, hashes = site.contracts, site.table.init_code_hashes
    arguments = (
        known.permit2,
        known.weth9,
        known.uniswap_v2_factory,
        known.uniswap_v3_factory,
        bytes.fromhex(hashes.uniswap_v2[2:]),
        bytes.fromhex(hashes.uniswap_v3[2:]),
        manager,
        known.uniswap_v3_position_manager,
        positions,
        ZERO,
    )
    return site.create_from("universal_router", ROUTER_FILE, ROUTER_TYPES, arguments)


def install_hook(site: Site, manager: str) -> str:
    """Put the hook at an address whose bits say what it may do; the node is told to, so nobody searches for a salt."""
    artifact = site.fetched.contract("v4_core", "out/DynamicFeesTestHook.sol/DynamicFeesTestHook.json")
    site.rpc.call("anvil_setCode", HOOK, artifact.deployed_code)
    site.transact(HOOK, "setManager(address)", manager)
    site.transact(HOOK, "setFee(uint24)", HOOK_FEE)
    return HOOK


def open_pool(site: Site, positions: str, pool: NewPool) -> None:
    """Initialize it at the feeds' price and mint one position over the whole range."""
    me, permit2 = site.deployer.address, site.contracts.permit2
    addresses = {symbol: ZERO if symbol == NATIVE else site.tokens[symbol] for symbol in pool.symbols}
    symbols = sorted(pool.symbols, key=lambda symbol: int(addresses[symbol], 16))
    # The coin is priced as its wrapped token.
    priced = ["WETH" if symbol == NATIVE else symbol for symbol in symbols]
    amounts = [worth(symbol, pool.usd // 2) for symbol in priced]
    # What the position manager may take at most; the rest stays with the maker.
    most = [amount * 101 // 100 for amount in amounts]
    key = (addresses[symbols[0]], addresses[symbols[1]], pool.fee, pool.spacing, pool.hooks)
    site.transact(positions, f"initializePool({POOL_KEY},uint160)", key, sqrt_price_x96(priced[0], priced[1]))
    coins = 0
    for symbol, amount in zip(symbols, most, strict=True):
        if symbol == NATIVE:
            coins = amount
            continue
        site.give(symbol, amount)
        site.transact(addresses[symbol], "approve(address,uint256)", permit2, amount)
        site.transact(permit2, "approve(address,address,uint160,uint48)", addresses[symbol], positions, amount, FAR)
    edge = HIGHEST_TICK // pool.spacing * pool.spacing
    actions = MINT + SETTLE_PAIR
    params = [
        encode(
            [POOL_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"],
            [key, -edge, edge, isqrt(amounts[0] * amounts[1]), *most, me, b""],
        ),
        encode(["address", "address"], [key[0], key[1]]),
    ]
    if coins:
        actions += SWEEP
        params.append(encode(["address", "address"], [ZERO, me]))
    unlock = encode(["bytes", "bytes[]"], [actions, params])
    site.transact(positions, "modifyLiquidities(bytes,uint256)", unlock, FAR, value=coins)


WORLD = ProtocolWorld("uniswap_v4", deploy, version_of="uniswap", in_run=True)
