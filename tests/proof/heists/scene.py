"""The scene of a heist: a caged Safe beside the real Aave, Morpho, Uniswap V3 and a vault, on a node of its own.

Besides them there is what an attack can use: a token that calls whoever listens in the middle of a transfer, a router
whose paths nobody checks, a pool at a shameless price, what owners signed for another time, a contract that the Safe
owns, a token that breaks, a market whose price the thief tells, and a LoanCallback that runs steps in the Safe's name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import TYPE_CHECKING, Any

from golem_project.embedded.world.artifacts import fetch_artifacts
from golem_project.embedded.world.protocols import erc4626
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    Refill,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    conditional_call_rules,
    payout_rule,
    recipient_rule,
    role_allowance_rule,
    role_call_rule,
    role_spender_rule,
    sequencer_rule,
    spender_rule,
    valuer_rule,
)
from permits_app.policy_cage.safe_tx import ENABLE_MODULE
from tests.contracts.lent_safe import SET_HANDLER
from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW, Deployer, Market, deploy_market
from tests.proof.caged.morpho import FLASH_LOAN, MorphoMarkets
from tests.proof.caged.safe import (
    APPROVE,
    FEED_DECIMALS,
    GIVE,
    MAX_AGE,
    TRADE,
    USD,
    CagedSafe,
    Coin,
    build_caged_safe,
    deploy,
    selector,
)
from tests.proof.caged.signed import sign_for_owners
from tests.proof.caged.uniswap import (
    COLLECT,
    CREATE_POOL,
    DECREASE,
    EXACT_IN,
    FOREVER,
    INCREASE,
    MINT_V3,
    V3,
    WHOLE,
)
from tools_app.chain.abi import encode_call, encode_constructor
from tools_app.toolkit.views import NATIVE

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

    from tests.proof.caged.engines import NodeEngine

RESERVES = "constructor(address pool, (address underlying, address aToken, address debtToken)[] reserves)"
SHARES = "constructor(address token, address underlying, bytes4 worthOf)"
TO_ASSETS = "function convertToAssets(uint256 shares) view returns (uint256)"
VAULT = "constructor(address asset, string name, string symbol)"
DEPOSIT = "function deposit(uint256 assets, address receiver)"
TAKE_OUT = "function withdraw(uint256 assets, address receiver, address from)"
SET_ADDRESS = "function setAddress(bytes32 id, address newAddress)"
COLLATERAL = "function configureReserveAsCollateral(address asset, uint256 ltv, uint256 threshold, uint256 bonus)"
MINT = "function mint(address to, uint256 amount)"
HONEST_FEE, SHAMELESS_FEE = 3_000, 500
SPACINGS = {HONEST_FEE: 60, SHAMELESS_FEE: 10}
MULTICALL = "function multicall(bytes[] data)"
REGISTER = "function register(string agentURI)"
AGGREGATE = "function aggregate((address target, bytes callData)[] calls)"
TREASURY_USD = 30_000
LIMITS = {Limit.MAX_POSITION_BPS: 5_000, Limit.MAX_CONCENTRATION_BPS: 6_000}
# Besides the three coins that have markets, the coin of the chain, and the two tokens that are odd: ten assets.
MORE_COINS = (
    ("DAI", 18, 10**8),
    ("LINK", 18, 15 * 10**8),
    ("AAVE", 18, 150 * 10**8),
    ("GUSD", 2, 10**8),
)
MORE_USD = 1_500
JUMP_PERCENT = 25
GRACE_SECONDS = 3_600
TRADER = 1
TRADER_MOST_USD = 4_000
"""What the key of the other role may let go of USDC, once."""


@dataclass
class Scene:
    """Addresses of what stands there. `first_token` is the number of the next V3 position."""

    caged: CagedSafe
    market: Market
    v3: V3
    router: str = ""
    open_router: str = ""
    vault: str = ""
    treasury: str = ""
    owned: str = ""
    evil: str = ""
    fragile: str = ""
    spare: str = ""
    spare_feed: str = ""
    sequencer: str = ""
    registry: str = ""
    agent: int = 0
    multicall: str = ""
    callback: str = ""
    valuers: dict[str, str] = field(default_factory=dict)
    deposit: bytes = b""
    revocation: bytes = b""
    first_token: int = 0
    _morpho: MorphoMarkets | None = None

    @property
    def morpho(self) -> MorphoMarkets:
        """The markets at Morpho, which are there once the scene is built."""
        assert self._morpho is not None
        return self._morpho

    @property
    def engine(self) -> NodeEngine:
        engine: Any = self.caged.engine
        return engine


def build_scene(engine: NodeEngine) -> Scene:
    """Everything deployed and allowed; the session's key is appointed by each heist for itself. What owners signed is
    of the nonce that the Safe has at the end.
    """
    caged = build_caged_safe(engine, limits=LIMITS)
    market = deploy_market(caged, {}, has_feeds_of_cage=True)
    scene = Scene(caged, market, V3(caged, calls=[]))
    scene.router, scene.open_router = scene.v3.deploy_router(), scene.v3.deploy_router()
    scene.treasury = deploy(caged, "FuzzVenue")
    caged.mint("USDC", scene.treasury, TREASURY_USD * USD)
    scene.owned = Deployer(caged).deploy("PoolAddressesProvider", "(string,address)", "owned", caged.safe)
    _make_like_mainnet(scene)
    _deploy_vault(scene)
    _deploy_tokens(scene)
    _deploy_valuers(scene)
    _add_coins(scene)
    _register(scene)
    code = bytes.fromhex(fetch_artifacts().multicall3_creation_code()[2:])
    scene.multicall = engine.send(caged.deployer, None, code).created or ""
    scene._morpho = MorphoMarkets(caged)
    _set_callback(scene)
    _allow(scene)
    _fill_pools(scene)
    engine.give_coins(caged.safe, 10**18)
    usdc = caged.coins["USDC"].address
    fetched = encode_call(TRADE, usdc, 0, usdc, TREASURY_USD * USD)
    scene.deposit = sign_for_owners(caged, scene.treasury, fetched)
    ended = cage_contract.encode_set_session(key="0x" + "00" * 20, expires_at=0, operations=0, budget_micro_usd=0)
    scene.revocation = sign_for_owners(caged, caged.cage, ended, safe_tx_gas=200_000)
    return scene


def _make_like_mainnet(scene: Scene) -> None:
    """Half of what is lent may be borrowed and lost, as with WBTC on mainnet: 73%, 78%, 5%."""
    caged = scene.caged
    [provider] = caged.read(scene.market.pool, "function ADDRESSES_PROVIDER() view returns (address)")
    [configurator] = caged.read(provider, "function getPoolConfigurator() view returns (address)")
    _act(scene, caged.deployer, configurator, COLLATERAL, caged.coins["WETH"].address, 7_300, 7_800, 10_500)


def _deploy_vault(scene: Scene) -> None:
    caged, usdc = scene.caged, scene.caged.coins["USDC"].address
    code = bytes.fromhex(erc4626.compile_vault(erc4626.WORLD.fetch()).removeprefix("0x"))
    sent = caged.engine.send(caged.deployer, None, code + encode_constructor(VAULT, usdc, "Vault", "V"))
    scene.vault = sent.created or ""
    caged.mint("USDC", caged.deployer.address, 1_000_000 * USD)
    _act(scene, caged.deployer, usdc, APPROVE, scene.vault, 1_000_000 * USD)
    _act(scene, caged.deployer, scene.vault, DEPOSIT, 1_000_000 * USD, caged.deployer.address)


def _deploy_tokens(scene: Scene) -> None:
    caged = scene.caged
    scene.evil, scene.fragile = deploy(caged, "HookedToken"), deploy(caged, "FragileToken")
    token = "constructor(string name, string symbol, uint8 decimals)"
    feed = "constructor(string text, uint8 decimals, int256 answer)"
    scene.spare = deploy(caged, "SimulatedToken", token, "SPARE", "SPARE", 18)
    scene.spare_feed = deploy(caged, "SimulatedFeed", feed, "SPARE", FEED_DECIMALS, 10**8)


def _add_coins(scene: Scene) -> None:
    """Held by the Safe and by the market that does what it likes; no protocol takes them."""
    caged = scene.caged
    token = "constructor(string name, string symbol, uint8 decimals)"
    feed = "constructor(string text, uint8 decimals, int256 answer)"
    for symbol, decimals, price in MORE_COINS:
        address = deploy(caged, "SimulatedToken", token, symbol, symbol, decimals)
        priced_by = deploy(caged, "SimulatedFeed", feed, symbol, FEED_DECIMALS, price)
        coin = Coin(symbol, address, priced_by, decimals, price)
        caged.coins[symbol] = coin
        caged.mint(symbol, caged.safe, MORE_USD * 10 ** (decimals + FEED_DECIMALS) // price)
        caged.mint(symbol, caged.venue, 10**9 * 10**decimals)
    scene.sequencer = deploy(caged, "SimulatedFeed", feed, "up", 0, 0)


def _deploy_valuers(scene: Scene) -> None:
    caged, market = scene.caged, scene.market
    rows = [(one.underlying, one.a_token, one.debt_token) for one in (market.reserves[s] for s in ("USDC", "WETH"))]
    scene.valuers = {
        market.pool: deploy(caged, "LendingValuer", RESERVES, market.pool, rows),
        scene.v3.npm: deploy(caged, "V3PositionValuer", "constructor(address manager)", scene.v3.npm),
        scene.vault: deploy(
            caged, "ShareValuer", SHARES, scene.vault, caged.coins["USDC"].address, selector(TO_ASSETS)
        ),
    }


def _register(scene: Scene) -> None:
    """The golem's identity, a token of the Safe."""
    scene.registry = deploy(scene.caged, "SimulatedIdentityRegistry")
    told = encode_call(REGISTER, "https://agents.example/1")
    assert scene.caged.owner_call(scene.registry, told).succeeded
    owner = "function ownerOf(uint256 id) view returns (address)"
    scene.agent = next(each for each in (0, 1) if _answers(scene, owner, each))


def _set_callback(scene: Scene) -> None:
    """As owners set it whose golem is to take loans within a transaction."""
    caged = scene.caged
    scene.callback = deploy(caged, "LoanCallback")
    for change in (encode_call(SET_HANDLER, scene.callback), encode_call(ENABLE_MODULE, scene.callback)):
        assert caged.owner_call(caged.safe, change).succeeded


def _answers(scene: Scene, question: str, number: int) -> bool:
    try:
        return bool(scene.caged.read(scene.registry, question, number))
    except AssertionError:
        return False


def _allow(scene: Scene) -> None:
    """What the owners let the key do: every recipient and every token of these calls is pinned, but at the venue, which
    is a market that does what it likes, and at the open router.
    """
    caged, pool, npm, vault = scene.caged, scene.market.pool, scene.v3.npm, scene.vault
    valued = [int(caged.coins[symbol].address, 16) for symbol in ("USDC", "WETH")]
    rules = [valuer_rule(target, valuer) for target, valuer in scene.valuers.items()]
    rules += [spender_rule(one, most_micro_usd=50_000 * USD) for one in (pool, vault, scene.router, scene.open_router)]
    path = [Condition(Must.BE_PATH_OF_ASSETS, (0, 0)), Condition(Must.BE_ACCOUNT, (0, 1), group=1)]
    kept = [Condition(Must.BE_ACCOUNT, (2,)), *(Condition(Must.EQUAL, (0,), one, group=1) for one in valued)]
    mine = [Condition(Must.BE_ACCOUNT, (1,)), Condition(Must.BE_ACCOUNT, (2,), group=1)]
    for target, text, conditions in (
        (pool, SUPPLY, [Condition(Must.BE_ACCOUNT, (2,))]),
        (pool, BORROW, [Condition(Must.BE_ACCOUNT, (4,))]),
        (pool, REPAY, [Condition(Must.BE_ACCOUNT, (3,))]),
        (pool, WITHDRAW, kept),
        (npm, MINT_V3, [Condition(Must.BE_ACCOUNT, (9,))]),
        (npm, COLLECT, [Condition(Must.BE_ACCOUNT, (1,))]),
        (vault, DEPOSIT, [Condition(Must.BE_ACCOUNT, (1,))]),
        (vault, TAKE_OUT, mine),
        (scene.router, EXACT_IN, path),
    ):
        rules += conditional_call_rules(target, selector(text), conditions)
    rules += [call_rule(npm, selector(text)) for text in (INCREASE, DECREASE, MULTICALL)]
    # What a new cage is suggested for the registry and for Morpho; and what careless owners let the key do besides:
    # take loans within one call, and give rights to a bundler that anybody may use.
    rules += [call_rule(scene.registry, selector(REGISTER)), *scene.morpho.rules()]
    rules += [call_rule(scene.morpho.at, selector(FLASH_LOAN)), call_rule(scene.multicall, selector(AGGREGATE))]
    rules.append(spender_rule(scene.multicall, most_micro_usd=50_000 * USD))
    rules += [call_rule(scene.open_router, selector(EXACT_IN)), call_rule(scene.owned, selector(SET_ADDRESS))]
    rules.append(call_rule(caged.venue, bytes(4)))
    rules += _list_assets(scene)
    rules += _give_role(scene)
    rules.append(sequencer_rule(scene.sequencer, grace_seconds=GRACE_SECONDS))
    caged.change(*rules)


def _give_role(scene: Scene) -> list[Rule]:
    """Another key beside the golem's: it swaps, lends dollars and pays the treasury, each up to an allowance."""
    usdc, weth = (scene.caged.coins[symbol] for symbol in ("USDC", "WETH"))
    return [
        role_call_rule(TRADER, scene.router, selector(EXACT_IN)),
        role_call_rule(TRADER, scene.market.pool, selector(SUPPLY)),
        role_call_rule(TRADER, scene.market.pool, selector(WITHDRAW)),
        role_spender_rule(TRADER, scene.router),
        role_spender_rule(TRADER, scene.market.pool),
        role_allowance_rule(TRADER, usdc.address, Refill(TRADER_MOST_USD * USD)),
        role_allowance_rule(TRADER, weth.address, Refill(weth.units(1), weth.units(1), 3_600)),
        recipient_rule(0, scene.treasury),
        payout_rule(TRADER, 0, usdc.address, Refill(2_000 * USD)),
    ]


def _list_assets(scene: Scene) -> list[Rule]:
    caged = scene.caged
    weth = caged.coins["WETH"]
    most = 10**30
    coins = AssetRule(weth.feed, MAX_AGE, 18, FEED_DECIMALS)
    broken = AssetRule(caged.coins["USDC"].feed, MAX_AGE, 18, FEED_DECIMALS)
    spare = AssetRule(scene.spare_feed, MAX_AGE, 18, FEED_DECIMALS)
    listed: list[Rule] = []
    for coin in caged.coins.values():
        asset = AssetRule(
            coin.feed, MAX_AGE, coin.decimals, FEED_DECIMALS, most_jump_percent=JUMP_PERCENT, least=1, most=10**20
        )
        if coin.symbol in [symbol for symbol, _, _ in MORE_COINS]:
            whole = 2_000 * 10 ** (coin.decimals + FEED_DECIMALS) // coin.price
            listed += asset_rules(coin.address, asset, per_batch=whole, per_window=2 * whole)
        else:
            listed.append(Rule(RuleKind.ASSET, address_key(coin.address), asset.pack()))
    return [
        *listed,
        *asset_rules(NATIVE, coins, per_batch=10**17, per_window=2 * 10**17),
        *asset_rules(scene.fragile, broken, per_batch=most, per_window=most),
        *asset_rules(scene.spare, spare, per_batch=most, per_window=most),
    ]


def _fill_pools(scene: Scene) -> None:
    """Honest pools of a million, the thief's pool at twice the price of WETH, and its token's pool against dollars."""
    caged, v3, thief = scene.caged, scene.v3, scene.caged.stranger
    usdc, weth, wbtc = (caged.coins[symbol].address for symbol in ("USDC", "WETH", "WBTC"))
    for symbol in caged.coins:
        for one in (caged.deployer, thief):
            caged.mint(symbol, one.address, caged.coins[symbol].units(2_000_000))
            _act(scene, one, caged.coins[symbol].address, APPROVE, v3.npm, 2**255)
            _act(scene, one, caged.coins[symbol].address, APPROVE, scene.open_router, 2**255)
            _act(scene, one, caged.coins[symbol].address, APPROVE, scene.market.pool, 2**255)
    for other in (weth, wbtc):
        v3.open_pool(usdc, other, HONEST_FEE)
        asked = v3.minting(usdc, other, HONEST_FEE, 500_000, caged.deployer.address)
        _act(scene, caged.deployer, v3.npm, MINT_V3, asked)
    _open(scene, thief, usdc, 40_000 * USD, weth, 40_000 * WHOLE // 6_000, SHAMELESS_FEE)
    _act(scene, thief, scene.evil, MINT, thief.address, 10**24)
    _act(scene, thief, scene.evil, APPROVE, v3.npm, 2**255)
    _open(scene, thief, usdc, 1_000 * USD, scene.evil, 1_000 * WHOLE, HONEST_FEE)
    scene.first_token = 5


def _open(scene: Scene, who: LocalAccount, one: str, amount: int, other: str, amount_of_other: int, fee: int) -> None:
    """A pool at the price of these amounts, and these amounts in it."""
    first, second = sorted((one, other), key=lambda address: int(address, 16))
    of = {one: amount, other: amount_of_other}
    price = isqrt((of[second] << 192) // of[first])
    _act(scene, who, scene.v3.npm, CREATE_POOL, first, second, fee, price)
    asked = (first, second, fee, -887_220, 887_220, of[first], of[second], 0, 0, who.address, FOREVER)
    _act(scene, who, scene.v3.npm, MINT_V3, asked)


def _act(scene: Scene, who: LocalAccount, to: str, signature: str, *args: Any) -> None:
    sent = scene.caged.engine.send(who, to, encode_call(signature, *args))
    assert sent.succeeded, f"{signature}: {sent.output.hex()}"


__all__ = ["GIVE", "Scene", "build_scene"]
