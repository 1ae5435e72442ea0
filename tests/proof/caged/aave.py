"""The real Aave V3, deployed beside a caged Safe, with the Safe's coins as its reserves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golem_project.embedded.world.protocols import aave_v3
from golem_project.embedded.world.rpc import encode_arguments
from tests.proof.caged.safe import APPROVE, MINT, CagedSafe, deploy
from tools_app.chain.abi import encode_call

RAY = 10**27
FEED = "constructor(string text, uint8 decimals, int256 answer)"
ZERO = "0x" + "00" * 20
SUPPLY = "function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)"
BORROW = "function borrow(address asset, uint256 amount, uint256 mode, uint16 referralCode, address onBehalfOf)"
REPAY = "function repay(address asset, uint256 amount, uint256 mode, address onBehalfOf) returns (uint256)"
WITHDRAW = "function withdraw(address asset, uint256 amount, address to)"
RESERVE_DATA = (
    "function getReserveData(address asset) view returns ((uint256 configuration, uint128 liquidityIndex,"
    " uint128 liquidityRate, uint128 borrowIndex, uint128 borrowRate, uint128 stableRate, uint40 updatedAt, uint16 id,"
    " address aToken, address stableDebt, address variableDebt, address strategy, uint128 toTreasury,"
    " uint128 unbacked, uint128 isolatedDebt) data)"
)
INPUT = (
    "address aTokenImpl, address stableDebtTokenImpl, address variableDebtTokenImpl, uint8 underlyingAssetDecimals,"
    " address interestRateStrategyAddress, address underlyingAsset, address treasury, address incentivesController,"
    " string aTokenName, string aTokenSymbol, string variableDebtTokenName, string variableDebtTokenSymbol,"
    " string stableDebtTokenName, string stableDebtTokenSymbol, bytes params"
)


@dataclass(frozen=True)
class Reserve:
    """One reserve of the market: its token, and what it gives for what is put in and taken out."""

    underlying: str
    a_token: str
    debt_token: str


@dataclass
class Market:
    """A pool with liquidity in every reserve, by the coin's symbol; `unpriced` is one that the cage has no feed for."""

    pool: str
    reserves: dict[str, Reserve] = field(default_factory=dict)


class AaveLinker:
    """Deploys Aave V3's contracts with the libraries they call, each library once.

    `create` takes creation code in hex, the types and the values of the constructor, and gives the address.
    """

    def __init__(self, create: Callable[..., str]) -> None:
        fetched = aave_v3.WORLD.fetch()
        files = fetched.packages["aave_v3"].keep
        self._artifacts = {Path(name).stem: fetched.artifact("aave_v3", name) for name in files}
        self._create = create
        self._libraries: dict[str, str] = {}

    def deploy(self, name: str, types: str = "()", *values: Any) -> str:
        """The address of a new contract of the package."""
        artifact = self._artifacts[name]
        code = artifact["bytecode"][2:]
        for libraries in artifact["linkReferences"].values():
            for library, places in libraries.items():
                if library not in self._libraries:
                    self._libraries[library] = self.deploy(library)
                for place in places:
                    start = 2 * place["start"]
                    code = code[:start] + self._libraries[library][2:].lower() + code[start + 40 :]
        return self._create(code, types, *values)


class Deployer(AaveLinker):
    """Acts as whoever deployed the caged Safe."""

    def __init__(self, caged: CagedSafe) -> None:
        super().__init__(self._create)
        self._caged = caged

    def _create(self, code: str, types: str, *values: Any) -> str:
        data = bytes.fromhex(code) + (encode_arguments(types, *values) if values else b"")
        created = self._caged.engine.send(self._caged.deployer, None, data).created
        assert created
        return created

    def act(self, to: str, signature: str, *args: Any) -> None:
        assert self._caged.engine.send(self._caged.deployer, to, encode_call(signature, *args)).succeeded, signature


def deploy_market(
    caged: CagedSafe, extra_tokens: dict[str, tuple[str, int]], *, has_feeds_of_cage: bool = False
) -> Market:
    """Aave V3.0 with the coins of the Safe and `extra_tokens` (symbol -> address, decimals) as reserves.

    Everything may be borrowed against everything up to 90%; the deployer has put in what there is to borrow. Its prices
    stay as they are, or are those of the cage's feeds.
    """
    aave, me = Deployer(caged), caged.deployer.address
    tokens = {coin.symbol: (coin.address, coin.decimals, coin.price) for coin in caged.coins.values()}
    tokens |= {symbol: (address, decimals, 10**8) for symbol, (address, decimals) in extra_tokens.items()}
    provider = aave.deploy("PoolAddressesProvider", "(string,address)", "local", me)
    aave.act(provider, "function setACLAdmin(address admin)", me)
    rights = aave.deploy("ACLManager", "(address)", provider)
    aave.act(provider, "function setACLManager(address manager)", rights)
    aave.act(rights, "function addPoolAdmin(address admin)", me)
    aave.act(provider, "function setPoolImpl(address impl)", aave.deploy("Pool", "(address)", provider))
    aave.act(provider, "function setPoolConfiguratorImpl(address impl)", aave.deploy("PoolConfigurator"))
    [pool] = caged.read(provider, "function getPool() view returns (address)")
    [configurator] = caged.read(provider, "function getPoolConfigurator() view returns (address)")
    feeds = (
        [coin.feed for coin in caged.coins.values()]
        if has_feeds_of_cage
        else [deploy(caged, "SimulatedFeed", FEED, symbol, 8, price) for symbol, (_, _, price) in tokens.items()]
    )
    listed = [address for address, _, _ in tokens.values()]
    oracle = aave.deploy(
        "AaveOracle",
        "(address,address[],address[],address,address,uint256)",
        *(provider, listed, feeds, ZERO, ZERO, 10**8),
    )
    aave.act(provider, "function setPriceOracle(address oracle)", oracle)
    rates = aave.deploy(
        "DefaultReserveInterestRateStrategy",
        "(address,uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
        *(provider, 8 * RAY // 10, 0, 4 * RAY // 100, RAY, 0, 0, 0, 0, 0),
    )
    parts = [aave.deploy(name, "(address)", pool) for name in ("AToken", "StableDebtToken", "VariableDebtToken")]
    rows = [
        (*parts, decimals, rates, token, me, ZERO, "a", "a", "v", "v", "s", "s", b"")
        for token, decimals, _ in tokens.values()
    ]
    aave.act(configurator, f"function initReserves(({INPUT})[] input)", rows)
    market = Market(pool)
    collateral = "function configureReserveAsCollateral(address asset, uint256 ltv, uint256 threshold, uint256 bonus)"
    for symbol, (token, decimals, _) in tokens.items():
        aave.act(configurator, collateral, token, 9_000, 9_300, 10_400)
        aave.act(configurator, "function setReserveBorrowing(address asset, bool enabled)", token, True)
        amount = 1_000_000 * 10**decimals
        aave.act(token, MINT, me, amount)
        aave.act(token, APPROVE, pool, amount)
        aave.act(pool, SUPPLY, token, amount, me, 0)
        [data] = caged.read(pool, RESERVE_DATA, token)
        market.reserves[symbol] = Reserve(token, data[8], data[10])
    return market
