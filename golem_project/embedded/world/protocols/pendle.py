"""Pendle V2 on the local chain: its real contracts over a yield of our own on DAI, one market with a guest inside.

The factories stand behind minimal proxies (ERC-1167). One part of the router and the limit router are larger than a
chain lets anybody create, so their code is set. What the market's oracle needs of the day before is written into its
observations: whoever builds the world waits for no quarter of an hour. PENDLE is a token that nobody prices.
"""

from __future__ import annotations

import hashlib
from typing import Final

import rlp
from eth_utils.abi import function_abi_to_4byte_selector
from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.accounts import CHAIN_ID
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.rpc import checksum, encode_arguments
from golem_project.embedded.world.seed_data import worth

ASSET: Final = "DAI"
WAD: Final = 10**18
DAY: Final = 86_400
HOUR: Final = 3_600
EXPIRY: Final = 1_924_992_000
"""1 January 2031. Addresses of the market's tokens follow from it, so it is the same for all who build."""
# 4 % a year on each share, of which the stock pays ten years.
EARNED_A_SECOND: Final = 4 * WAD // 100 // (365 * DAY)
STOCK_USD: Final = 4_000_000
DEPOSITED_USD: Final = 4_500_000
IN_MARKET: Final = 2_000_000 * WAD
SCALAR_ROOT: Final = 75 * WAD
# What a claim's asset buys of it at first: 5 % a year for four years and a month.
INITIAL_ANCHOR: Final = 122 * WAD // 100
FEE_ROOT: Final = 5 * 10**14
OBSERVATIONS: Final = 100
BLOCK_CYCLE: Final = 11_000
"""Seconds between blocks in thousandths, as the oracle of Ethereum has it."""
REWARD_A_SECOND: Final = 10**15
CREATE_GAS: Final = 12_000_000
FACETS: Final = ("ActionSwapPTV3", "ActionSwapYTV3", "ActionMiscV3", "ActionSimple", "ActionCallbackV3")
LARGE_FACET: Final = "ActionAddRemoveLiqV3"
LIMIT_ROUTER: Final = "PendleLimitRouter"
# Who fills an order pays so much of its rate; its maker pays nothing.
ORDER_FEE_ROOT: Final = FEE_ROOT
STORAGE_SLOTS_SEARCHED: Final = 64


def deploy(site: Site) -> dict[str, str]:
    """Factories, router and oracle; a yield over DAI; its market, which a guest fills."""
    me = site.deployer.address
    reward = site.create_ours("SimulatedToken", "(string,string,uint8)", "Pendle", "PENDLE", 18)
    gauges = site.create_ours("SimulatedPendleGauges", "(address)", reward)
    site.transact(reward, "mint(address,uint256)", gauges, 10_000_000 * WAD)
    yields, markets, market_code = _create_factories(site, gauges)
    router = _create_router(site)
    oracle = _behind_proxy(site, _create(site, "PendlePYLpOracle"))
    site.transact(oracle, "initialize(uint16,address)", BLOCK_CYCLE, me)
    sy = site.create_ours(
        "SimulatedPendleYield",
        "(address,string,string,uint256)",
        site.tokens[ASSET],
        "SY Local DAI",
        "SY-DAI",
        EARNED_A_SECOND,
    )
    site.give(ASSET, worth(ASSET, STOCK_USD), sy)
    site.transact(yields, "createYieldContract(address,uint32,bool)", sy, EXPIRY, True, gas=CREATE_GAS)
    pt, yt = (
        checksum(site.read(yields, f"{each}(address,uint256)", sy, EXPIRY, returns="(address)")[0])
        for each in ("getPT", "getYT")
    )
    market = _create_market(site, markets, market_code, pt, gauges)
    site.transact(gauges, "setMarket(address,uint256)", market, REWARD_A_SECOND)
    _fill(site, market, sy, pt, yt)
    _give_a_past(site, market)
    limit_router = _create_limit_router(site, router, yt)
    return {
        "router": router,
        "limit_router": limit_router,
        "oracle": oracle,
        "market_dai": market,
        "sy_dai": sy,
        "pt_dai": pt,
        "yt_dai": yt,
        "yield_factory": yields,
        "market_factory": markets,
        "gauges": gauges,
        "pendle": reward,
    }


def _create(site: Site, contract: str, types: str = "()", *arguments: object) -> str:
    return site.create_from("pendle", site.fetched.find("pendle", contract), types, *arguments)


def _behind_proxy(site: Site, code_at: str) -> str:
    """A minimal proxy as ERC-1167 writes it down."""
    runs = bytes.fromhex("363d3d373d3d3d363d73" + code_at[2:] + "5af43d82803e903d91602b57fd5bf3")
    return site.create(bytes.fromhex("3d602d80600a3d3981f3") + runs, what="a proxy")


def _create_factories(site: Site, gauges: str) -> tuple[str, str, bytes]:
    """Of yield contracts and of markets, each with the code it creates kept in two halves; and the market's code."""
    me, keeper = site.deployer.address, _create(site, "BaseSplitCodeFactoryContract")
    token_code, market_code = _linked(site, "PendleYieldToken"), _linked(site, "PendleMarketV7")
    halves = [_keep_code(site, keeper, code, kept=2 * index) for index, code in enumerate((token_code, market_code))]
    first = _create(site, "PendleYieldContractFactoryUpg", "(address,uint256,address,uint256)", *halves[0])
    yields = _behind_proxy(site, first)
    fee = 5 * WAD // 100
    site.transact(yields, "initialize(uint96,uint128,uint128,address,address)", DAY, fee, fee, me, me)
    types = "(address,address,uint256,address,uint256,address)"
    second = _create(site, "PendleMarketFactoryV7Upg", types, yields, *halves[1], gauges)
    markets = _behind_proxy(site, second)
    site.transact(markets, "initialize(address,address,uint8)", me, me, 80)
    return yields, markets, market_code


def _keep_code(site: Site, keeper: str, code: bytes, *, kept: int) -> tuple[str, int, str, int]:
    """Keep creation code in two halves; where they lie follows from how many the keeper has created before."""
    site.transact(keeper, "deploy(string,bytes)", f"code {kept}", code, gas=CREATE_GAS)
    first, second = (
        checksum(keccak(rlp.encode([bytes.fromhex(keeper[2:]), nonce]))[12:]) for nonce in (kept + 1, kept + 2)
    )
    half = len(code) // 2
    return first, half, second, len(code) - half


def _linked(site: Site, contract: str) -> bytes:
    artifact = site.fetched.contract("pendle", site.fetched.find("pendle", contract))
    return bytes.fromhex(artifact.link(lambda library: _create(site, library)))


def _create_router(site: Site) -> str:
    router = _create(
        site, "PendleRouterV4", "(address,address)", site.deployer.address, _create(site, "ActionStorageV4")
    )
    parts = [(_create(site, name), name) for name in FACETS]
    large = site.fetched.contract("pendle", site.fetched.find("pendle", LARGE_FACET))
    address = _place_of(LARGE_FACET)
    site.rpc.call("anvil_setCode", address, large.deployed_code)
    parts.append((address, LARGE_FACET))
    site.transact(
        router,
        "setSelectorToFacets((address,bytes4[])[])",
        [(address, _selectors(site, name)) for address, name in parts],
        gas=CREATE_GAS,
    )
    return router


def _place_of(contract: str) -> str:
    """Where code is set that is too large to be created."""
    return checksum("0x" + hashlib.sha256(f"golem local world: {contract}".encode()).hexdigest()[:40])


def _create_limit_router(site: Site, router: str, yt: str) -> str:
    """The limit router behind a proxy. What its constructor writes into its code is what it returns when it is called
    where it shall stand.
    """
    artifact = site.fetched.contract("pendle", site.fetched.find("pendle", LIMIT_ROUTER))
    takes = encode_arguments("(address,address)", site.tokens["WETH"], router)
    first, at = f"0x{artifact.code}{takes.hex()}", _place_of(LIMIT_ROUTER)
    site.flush()
    site.rpc.call("anvil_setCode", at, first)
    code = site.rpc.call("eth_call", {"to": at, "gas": hex(CREATE_GAS)}, "latest")
    site.rpc.call("anvil_setCode", at, code)
    me, proxy = site.deployer.address, _behind_proxy(site, at)
    site.transact(proxy, "initialize(address,address)", me, me)
    site.transact(proxy, "setLnFeeRateRoots(address[],uint256[],bool)", [yt], [ORDER_FEE_ROOT], False)
    return proxy


def _selectors(site: Site, contract: str) -> list[bytes]:
    artifact = site.fetched.artifact("pendle", site.fetched.find("pendle", contract))
    return [function_abi_to_4byte_selector(each) for each in artifact["abi"] if each["type"] == "function"]


def _create_market(site: Site, markets: str, code: bytes, pt: str, gauges: str) -> str:
    """A market; its address follows from what it is made of, as CREATE2 has it."""
    site.transact(
        markets,
        "createNewMarket(address,int256,int256,uint80)",
        pt,
        SCALAR_ROOT,
        INITIAL_ANCHOR,
        FEE_ROOT,
        gas=CREATE_GAS,
    )
    types = "(address,int256,int256,uint80,address)"
    made_of = code + encode_arguments(types, pt, SCALAR_ROOT, INITIAL_ANCHOR, FEE_ROOT, gauges)
    salt = CHAIN_ID.to_bytes(32, "big")
    return checksum(keccak(b"\xff" + bytes.fromhex(markets[2:]) + salt + keccak(made_of))[12:])


def _fill(site: Site, market: str, sy: str, pt: str, yt: str) -> None:
    """Half of the market is shares, half claims; the guest keeps what they would have earned."""
    guest, asset, all_in = site.account("guest"), site.tokens[ASSET], worth(ASSET, DEPOSITED_USD)
    site.transact(market, "increaseObservationsCardinalityNext(uint16)", OBSERVATIONS, gas=2 * CREATE_GAS)
    site.give(ASSET, all_in, guest.address)
    site.transact(asset, "approve(address,uint256)", sy, all_in, sender=guest)
    deposit = ("deposit(address,address,uint256,uint256)", guest.address, asset, all_in, 0)
    site.transact(sy, *deposit, sender=guest)
    site.transact(sy, "transfer(address,uint256)", yt, IN_MARKET, sender=guest)
    site.transact(yt, "mintPY(address,address)", guest.address, guest.address, sender=guest)
    for token in (sy, pt):
        site.transact(token, "transfer(address,uint256)", market, IN_MARKET, sender=guest)
    site.transact(market, "mint(address,uint256,uint256)", guest.address, IN_MARKET, IN_MARKET, sender=guest)


def _give_a_past(site: Site, market: str) -> None:
    """The market's rate is the one it has had for a day, until an hour ago: written where the oracle looks it up.

    Whether the market itself wrote one observation or two depends on the second in which it was filled.
    """
    site.flush()
    *_, rate, index, _, _ = site.rpc.read(market, "_storage()", returns="(int128,int128,uint96,uint16,uint16,uint16)")
    now, _, _ = site.rpc.read(market, "observations(uint256)", index, returns="(uint32,uint216,bool)")
    base, last = _find_observations(site, market, index), now - HOUR
    words = {
        base - 1: rate | 1 << 96 | OBSERVATIONS << 112 | OBSERVATIONS << 128,
        base: last - DAY | 1 << 248,
        base + 1: last | rate * DAY << 32 | 1 << 248,
    }
    for slot, word in words.items():
        site.rpc.call("anvil_setStorageAt", market, hex(slot), f"0x{word:064x}")


def _find_observations(site: Site, market: str, index: int) -> int:
    """The slot of the first observation, by what stands in the one of `index`. Raises EmbeddedError."""
    at, summed, is_set = site.rpc.read(market, "observations(uint256)", index, returns="(uint32,uint216,bool)")
    wanted = at | summed << 32 | int(is_set) << 248
    for slot in range(STORAGE_SLOTS_SEARCHED):
        if int(site.rpc.call("eth_getStorageAt", market, hex(slot), "latest"), 16) == wanted:
            return slot - int(index)
    raise EmbeddedError("the market keeps its observations elsewhere. Fix: report it.")


WORLD = ProtocolWorld("pendle", deploy)
