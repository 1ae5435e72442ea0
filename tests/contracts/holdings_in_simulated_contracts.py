"""What an honest Safe holds in each simulated contract, and what is said there: by whose word, and to whose good.

The contracts are put where they lie by the plans of the local world itself, so that a right which the world forgot to
take away is there to be used. Each word names the thief wherever somebody gets something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eth_typing import Hash32
from eth_utils.crypto import keccak

from golem_project.embedded.world.protocols import (
    compound_v3,
    curve,
    eigenlayer,
    erc8004,
    ethena,
    firepit,
    lido,
    liquid_restaking,
    maker,
    moonwell,
    rocketpool,
    uniswap_twamm,
    x402,
    yearn,
)
from golem_project.embedded.world.solidity import load_contract
from tests.contracts.lent_safe import deploy_code
from tests.contracts.site_in_process import SiteInProcess, open_site
from tests.proof.caged.engines import CHAIN_ID, InProcessEngine, install_permit2, make_account
from tests.proof.caged.safe import BALANCE, CagedSafe
from tests.tools_app.protocols.x402.payee import SETTLE
from tools_app.chain.abi import decode_values, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.protocols.x402.payments import Terms, type_payment
from tools_app.standards.permit2 import PERMIT2

WAD: Final = 10**18
RAY: Final = 10**27
RAD: Final = 10**45
WEEK: Final = 7 * 86_400
NOBODY: Final = "0x" + "00" * 20
TAKES_ANYTHING: Final = bytes.fromhex("60018060093d393df300")
"""Creates a contract that stops at once, whatever it is told."""
COIN_RECEIVED: Final = "receive"
"""The name of what answers coins that come without data."""


@dataclass(frozen=True, slots=True)
class Said:
    """A function with its arguments, and the account whose word it takes."""

    contract: str
    at: str
    signature: str
    args: tuple[Any, ...]
    by: str
    value: int = 0
    before: tuple[Said, ...] = ()
    """What has to be done first, so that the right caller is heard."""
    is_over: bool = False
    """It can be said once, and was when the contract was put there."""
    may_show: frozenset[str] = frozenset()
    """Where anybody may say it: the views of the holder that are other afterwards; no single number in them is less."""
    may_fall: frozenset[str] = frozenset()
    """Where anybody may say it: what was due to the holder and has been paid, or to others and has been bought."""

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @property
    def data(self) -> bytes:
        return b"" if self.name == COIN_RECEIVED else encode_call(f"function {self.signature}", *self.args)

    @property
    def selector(self) -> bytes:
        return b"" if self.name == COIN_RECEIVED else parse_signature(f"function {self.signature}").selector


@dataclass
class Holding:
    """One protocol with an honest Safe in it."""

    caged: CagedSafe
    site: SiteInProcess
    contracts: dict[str, str] = field(default_factory=dict)
    """Address -> which of our contracts it is."""
    said: list[Said] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)
    """The Safe, and what stands for it alone."""
    items: dict[str, list[Any]] = field(default_factory=dict)
    """Contract -> numbers or hashes of what the Safe has in it."""
    of_nobody: frozenset[str] = frozenset()
    """Views that take an address of a token, and say the same of any other: of what lies there for all."""

    def __post_init__(self) -> None:
        self.thief = self.caged.stranger.address
        self.friend = make_account("whom the holder allows")
        self.engine.give_coins(self.friend.address, 10**24)
        self.holders.insert(0, self.safe)

    @property
    def engine(self) -> InProcessEngine:
        return self.site.engine

    @property
    def safe(self) -> str:
        return self.caged.safe

    @property
    def deployer(self) -> str:
        return self.site.deployer.address

    def coin(self, symbol: str) -> str:
        return self.caged.coins[symbol].address

    # ---- what the honest holder does

    def act(self, to: str, signature: str, *args: Any, value: int = 0) -> None:
        """The Safe does it; two of its owners signed."""
        sent = self.caged.owner_call(to, encode_call(f"function {signature}", *args), value)
        assert sent.succeeded, (signature, args, sent.output)

    def fund(self, symbol: str, amount: int, spender: str) -> None:
        """The Safe has so much, and lets a contract of the protocol take it."""
        self.caged.mint(symbol, self.safe, amount)
        self.act(self.coin(symbol), "approve(address,uint256)", spender, 2**200)

    def ask(self, to: str, signature: str, *args: Any) -> Any:
        """The one thing a view says."""
        return self.caged.read(to, f"function {signature}", *args)[0]

    # ---- what is said

    def name(self, **contracts: str) -> None:
        self.contracts |= {address: name for name, address in contracts.items()}

    def say(self, at: str, signature: str, *args: Any, by: str, **more: Any) -> Said:
        one = Said(self.contracts[at], at, signature, args, by, **more)
        self.said.append(one)
        return one

    def say_of_token(self, at: str, amount: int) -> None:
        """What every token is told: the holder's friend may take a part, and nobody else."""
        self.act(at, "approve(address,uint256)", self.friend.address, amount)
        self.say(at, "transferFrom(address,address,uint256)", self.safe, self.thief, amount, by=self.friend.address)
        self.say(at, "transfer(address,uint256)", self.thief, amount, by=self.safe)
        self.say(at, "approve(address,uint256)", self.thief, 2**200, by=self.safe)


def hold_tokens(caged: CagedSafe) -> Holding:
    """Three kinds of tokens, a feed of a price, and the prices of a rollup's gas."""
    held = Holding(caged, open_site(caged, "tokens"))
    prices = held.site.create_ours("SimulatedGasPriceOracle")
    feed, owner = caged.coins["USDC"].feed, caged.deployer.address
    held.name(SimulatedToken=held.coin("USDC"), SimulatedFeed=feed, SimulatedGasPriceOracle=prices)
    for kind in ("FeeOnTransferToken", "NoReturnToken"):
        token = held.site.create_ours(kind, "(string,string,uint8)", kind, kind, 6)
        held.name(**{kind: token})
        held.site.transact(token, "mint(address,uint256)", held.safe, 10**10)
        held.say(token, "mint(address,uint256)", held.thief, 1, by=held.deployer)
        held.say_of_token(token, 10**9)
    held.say_of_token(held.coin("USDC"), 10**9)
    held.say(held.coin("USDC"), "mint(address,uint256)", held.thief, 1, by=owner)
    held.say(feed, "setAnswer(int256)", 1, by=owner)
    held.say(feed, "setUpdatedAt(uint256)", 1, by=owner)
    held.say(prices, "setPrices(uint256,uint256,uint32,uint32)", 1, 1, 1, 1, by=held.deployer)
    return held


def hold_shares_of_a_pool(caged: CagedSafe) -> Holding:
    """Liquidity of three dollars: a part in hand, a part in the gauge, a part in the place over it."""
    held = Holding(caged, open_site(caged, "curve"))
    at = curve.deploy(held.site)
    lp, pool, gauge, minter = (at[key] for key in ("lp_3pool", "pool_3pool", "gauge_3pool", "minter"))
    booster, rewards = at["convex_booster"], at["convex_rewards_3pool"]
    held.name(SimulatedCurveToken=lp, SimulatedCurvePool=pool, SimulatedCurveGauge=gauge, SimulatedCurveMinter=minter)
    held.name(SimulatedConvexBooster=booster, SimulatedConvexRewards=rewards)
    for symbol in curve.COINS:
        held.fund(symbol, 50_000 * 10 ** caged.coins[symbol].decimals, pool)
    dollars = [20_000 * 10 ** caged.coins[symbol].decimals for symbol in curve.COINS]
    held.act(pool, "add_liquidity(uint256[3],uint256)", dollars, 0)
    for spender in (gauge, booster):
        held.act(lp, "approve(address,uint256)", spender, 2**200)
    held.act(gauge, "deposit(uint256)", 15_000 * WAD)
    held.act(booster, "deposit(uint256,uint256,bool)", 0, 15_000 * WAD, True)
    held.engine.advance(86_400)
    me, safe, thief, part, wbtc = held.deployer, held.safe, held.thief, 1_000 * WAD, held.coin("WBTC")
    held.site.give("WBTC", 10**8)
    held.say_of_token(lp, part)
    held.say(lp, "mint(address,uint256)", thief, part, by=pool)
    held.say(lp, "burnFrom(address,uint256)", safe, part, by=pool)
    held.say(lp, "set_minter(address)", thief, by=pool)
    held.say(pool, "apply_new_fee(uint256)", 0, by=me)
    held.say(pool, "kill_me()", by=me)
    held.say(pool, "unkill_me()", by=me)
    held.say(pool, "add_liquidity(uint256[3],uint256)", [each // 10 for each in dollars], 0, by=safe)
    held.say(pool, "exchange(int128,int128,uint256,uint256)", 0, 1, part, 0, by=safe)
    held.say(pool, "remove_liquidity(uint256,uint256[3])", part, [0, 0, 0], by=safe)
    held.say(pool, "remove_liquidity_one_coin(uint256,int128,uint256)", part, 0, 0, by=safe)
    held.say(gauge, "kill_me()", by=me)
    held.say(gauge, "set_minter(address)", thief, by=me, is_over=True)
    held.say(gauge, "deposit(uint256)", part, by=safe)
    held.say(gauge, "withdraw(uint256)", part, by=safe)
    # Counted in two steps instead of one, they lose the base unit that each step rounds off.
    counted = frozenset({"integrate_fraction", "claimable_tokens"})
    held.say(gauge, "claimable_tokens(address)", safe, by=thief, may_show=counted)
    held.say(gauge, "user_checkpoint(address)", safe, by=thief, may_show=counted)
    held.say(minter, "mint(address)", gauge, by=safe)
    held.say(booster, "addPool(address,address,address)", lp, gauge, rewards, by=me)
    let = Said("SimulatedToken", wbtc, "approve(address,uint256)", (booster, 10**8), me)
    held.say(booster, "addRewards(uint256,uint256)", 0, 10**7, by=me, before=(let,))
    held.say(booster, "shutdownPool(uint256)", 0, by=me)
    held.say(booster, "withdrawTo(uint256,uint256,address)", 0, part, thief, by=rewards)
    held.say(booster, "rewardClaimed(uint256,address,uint256)", 0, thief, 10**6, by=rewards)
    held.say(booster, "deposit(uint256,uint256,bool)", 0, part, True, by=safe)
    held.say(booster, "earmarkRewards(uint256)", 0, by=thief, may_show=frozenset({"earned"}))
    held.say(rewards, "queueNewRewards(uint256)", 1, by=booster)
    held.say(rewards, "stakeFor(address,uint256)", thief, part, by=booster)
    held.say(rewards, "withdrawAndUnwrap(uint256,bool)", part, True, by=safe)
    gained, paid = frozenset({"balanceOf"}), frozenset({"earned"})
    held.say(rewards, "getReward(address,bool)", safe, True, by=thief, may_show=gained, may_fall=paid)
    return held


def hold_a_loan(caged: CagedSafe) -> Holding:
    """Dollars that are lent, and ether that would cover a debt."""
    held = Holding(caged, open_site(caged, "compound_v3"))
    at = compound_v3.deploy(held.site)
    comet, rewards, usdc, weth = at["comet_usdc"], at["rewards"], held.coin("USDC"), held.coin("WETH")
    held.name(SimulatedComet=comet, SimulatedCometRewards=rewards)
    held.fund("USDC", 50_000 * 10**6, comet)
    held.fund("WETH", 10 * WAD, comet)
    held.act(comet, "supply(address,uint256)", usdc, 40_000 * 10**6)
    held.act(comet, "supply(address,uint256)", weth, 8 * WAD)
    held.act(comet, "allow(address,bool)", held.friend.address, True)
    held.engine.advance(WEEK)
    # Interest that is counted earns interest itself.
    safe, counted = held.safe, frozenset({"userBasic", "baseTrackingAccrued", "balanceOf"})
    held.say(comet, "pause(bool,bool,bool,bool,bool)", True, True, True, True, True, by=held.deployer)
    held.say(comet, "allow(address,bool)", held.thief, True, by=safe)
    held.say(comet, "supply(address,uint256)", usdc, 1_000 * 10**6, by=safe)
    held.say(comet, "withdraw(address,uint256)", usdc, 1_000 * 10**6, by=safe)
    held.say(comet, "accrueAccount(address)", safe, by=held.thief, may_show=counted)
    held.say(rewards, "getRewardOwed(address,address)", comet, safe, by=held.thief, may_show=counted)
    paid = counted | {"rewardsClaimed"}
    held.say(rewards, "claim(address,address,bool)", comet, safe, True, by=held.thief, may_show=paid)
    return held


def hold_a_vault(caged: CagedSafe) -> Holding:
    """A vault with a debt, one of the Safe's own in the ledger, and collateral and dollars that lie there."""
    held = Holding(caged, open_site(caged, "maker"))
    at = maker.deploy(held.site)
    vat, jug, spot, manager = (at[key] for key in ("vat", "jug", "spot", "cdp_manager"))
    join, join_dai, cdps = at["join_eth_a"], at["join_dai"], at["get_cdps"]
    held.name(SimulatedVat=vat, SimulatedJug=jug, SimulatedSpotter=spot, SimulatedCdpManager=manager)
    held.name(SimulatedGemJoin=join, SimulatedDaiJoin=join_dai, SimulatedGetCdps=cdps)
    ilk, safe, thief, friend, me = b"ETH-A".ljust(32, b"\0"), held.safe, held.thief, held.friend.address, held.deployer
    held.act(manager, "open(bytes32,address)", ilk, safe)
    cdp = held.ask(manager, "last(address) view returns (uint256)", safe)
    urn = str(held.ask(manager, "urns(uint256) view returns (address)", cdp))
    held.holders.append(urn)
    held.items = {"SimulatedCdpManager": [cdp], "SimulatedVat": [ilk]}
    held.fund("WETH", 100 * WAD, join)
    held.fund("DAI", 10_000 * WAD, join_dai)
    held.act(join, "join(address,uint256)", urn, 30 * WAD)
    held.act(manager, "frob(uint256,int256,int256)", cdp, 30 * WAD, 20_000 * WAD)
    held.act(manager, "frob(uint256,int256,int256)", cdp, -2 * WAD, 0)
    held.act(manager, "move(uint256,address,uint256)", cdp, safe, 15_000 * RAD)
    held.act(join, "join(address,uint256)", safe, 30 * WAD)
    held.act(vat, "frob(bytes32,address,address,address,int256,int256)", ilk, safe, safe, safe, 20 * WAD, 10_000 * WAD)
    held.act(vat, "hope(address)", friend)
    held.act(vat, "hope(address)", join_dai)
    held.act(manager, "cdpAllow(uint256,address,uint256)", cdp, friend, 1)
    held.engine.advance(86_400)
    for each in (vat, jug, spot, join, join_dai):
        held.say(each, "rely(address)", thief, by=me)
        held.say(each, "deny(address)", jug, by=me)
    held.say(vat, "cage()", by=me)
    held.say(vat, "file(bytes32,uint256)", b"Line".ljust(32, b"\0"), 0, by=me)
    held.say(vat, "file(bytes32,bytes32,uint256)", ilk, b"spot".ljust(32, b"\0"), 1, by=me)
    held.say(vat, "fold(bytes32,address,int256)", ilk, thief, RAY // 10, by=me)
    held.say(vat, "init(bytes32)", b"THIEF-A".ljust(32, b"\0"), by=me)
    held.say(vat, "slip(bytes32,address,int256)", ilk, thief, WAD, by=me)
    held.say(vat, "hope(address)", thief, by=safe)
    held.say(vat, "nope(address)", friend, by=safe)
    held.say(vat, "flux(bytes32,address,address,uint256)", ilk, safe, thief, WAD, by=friend)
    held.say(vat, "move(address,address,uint256)", safe, thief, RAD, by=friend)
    frob = "frob(bytes32,address,address,address,int256,int256)"
    held.say(vat, frob, ilk, safe, thief, thief, -WAD, 0, by=friend)
    held.say(vat, frob, ilk, safe, safe, thief, 0, 1_000 * WAD, by=friend)
    held.say(vat, frob, ilk, urn, thief, thief, -WAD, 0, by=manager)
    held.say(vat, frob, ilk, urn, urn, thief, 0, 1_000 * WAD, by=manager)
    held.say(manager, "cdpAllow(uint256,address,uint256)", cdp, thief, 1, by=friend)
    held.say(manager, "flux(uint256,address,uint256)", cdp, thief, WAD, by=friend)
    held.say(manager, "frob(uint256,int256,int256)", cdp, -WAD, 0, by=friend)
    held.say(manager, "move(uint256,address,uint256)", cdp, thief, RAD, by=safe)
    more = frozenset({"last", "count", "list", "getCdpsAsc"})
    held.say(manager, "open(bytes32,address)", ilk, safe, by=thief, may_show=more)
    for each in (join, join_dai):
        held.say(each, "join(address,uint256)", thief, WAD, by=safe)
        held.say(each, "exit(address,uint256)", thief, WAD, by=safe)
    held.say(jug, "init(bytes32)", ilk, by=me)
    # A fee is only written in the block in which the one before it was counted.
    held.say(jug, "file(bytes32,bytes32,uint256)", ilk, b"duty".ljust(32, b"\0"), 2 * RAY, by=me, is_over=True)
    held.say(jug, "start(bytes32,uint256)", ilk, 2 * RAY, by=me)
    held.say(jug, "drip(bytes32)", ilk, by=thief, may_show=frozenset({"ilks"}))
    held.say(spot, "file(bytes32,bytes32,address)", ilk, b"pip".ljust(32, b"\0"), thief, by=me)
    held.say(spot, "file(bytes32,bytes32,uint256)", ilk, b"mat".ljust(32, b"\0"), 1, by=me)
    held.say(spot, "poke(bytes32)", ilk, by=thief)
    return held


def hold_staked_ether(caged: CagedSafe) -> Holding:
    """Staked ether, some of it wrapped, and two places in the queue, one of them due."""
    held = Holding(caged, open_site(caged, "lido"))
    at = lido.deploy(held.site)
    steth, wsteth, queue, consensus, oracle = (at[key] for key in ("steth", "wsteth", "queue", "consensus", "oracle"))
    held.name(SimulatedStakedEther=steth, SimulatedWrappedStakedEther=wsteth, SimulatedWithdrawalQueue=queue)
    held.name(SimulatedHashConsensus=consensus, SimulatedAccountingOracle=oracle)
    safe, thief, friend, me = held.safe, held.thief, held.friend.address, held.deployer
    held.engine.give_coins(safe, 100 * WAD)
    held.act(steth, "submit(address)", NOBODY, value=50 * WAD)
    for spender in (wsteth, queue):
        held.act(steth, "approve(address,uint256)", spender, 2**200)
    held.act(wsteth, "wrap(uint256)", 10 * WAD)
    held.act(wsteth, "approve(address,uint256)", queue, 2**200)
    held.act(queue, "requestWithdrawals(uint256[],address)", [3 * WAD, 4 * WAD], NOBODY)
    report = "submitReport(uint256,uint256,uint256,uint256,uint256)"
    held.site.transact(oracle, report, 0, 86_400, 0, 0, 1, value=3 * WAD)
    held.act(queue, "setApprovalForAll(address,bool)", friend, True)
    held.items = {"SimulatedWithdrawalQueue": [1, 2]}
    held.say(oracle, "setPunctual(bool)", False, by=me)
    held.say(oracle, report, 0, 1, 0, WAD, 0, by=me)
    held.say_of_token(steth, WAD)
    held.say(steth, "initialize(address,address)", thief, thief, by=me)
    held.say(steth, "pauseStaking()", by=me)
    held.say(steth, "resumeStaking()", by=me)
    held.say(steth, "setStakingLimit(uint256,uint256)", 1, 1, by=me)
    held.say(steth, "finalizeRequests(uint256)", 2, by=oracle)
    held.say(steth, "rebase(uint256,uint256,uint256,uint256)", 0, 1, 0, WAD, by=oracle)
    held.say(steth, "submit(address)", thief, by=safe, value=WAD)
    held.say(steth, COIN_RECEIVED, by=safe, value=WAD)
    held.say(consensus, "setFrameConfig(uint256)", 1, by=me)
    slot, _ = held.caged.read(consensus, "function getCurrentFrame() view returns (uint256,uint256)")
    member = held.site.account(lido.MEMBERS[0]).address
    held.say(consensus, "submitReport(uint256,bytes32,uint256)", slot, b"\x11" * 32, 0, by=member)
    held.say(queue, "pauseFor(bool)", True, by=me)
    held.say(queue, "finalize(uint256,uint256)", 2, RAY, by=steth)
    held.say(queue, "requestWithdrawals(uint256[],address)", [WAD], thief, by=safe)
    held.say(queue, "requestWithdrawalsWstETH(uint256[],address)", [WAD], thief, by=safe)
    held.say(queue, "setApprovalForAll(address,bool)", thief, True, by=safe)
    held.say(queue, "approve(address,uint256)", thief, 2, by=friend)
    held.say(queue, "claimWithdrawals(uint256[],uint256[])", [1], [1], by=safe)
    held.say(queue, "claimWithdrawalsTo(uint256[],uint256[],address)", [1], [1], thief, by=safe)
    held.say(queue, "safeTransferFrom(address,address,uint256)", safe, thief, 2, by=friend)
    held.say(queue, "transferFrom(address,address,uint256)", safe, thief, 1, by=friend)
    held.say_of_token(wsteth, WAD)
    held.say(wsteth, "wrap(uint256)", WAD, by=safe)
    held.say(wsteth, "unwrap(uint256)", WAD, by=safe)
    return held


def hold_growing_ether(caged: CagedSafe) -> Holding:
    """A token of staked ether whose worth grows."""
    held = Holding(caged, open_site(caged, "rocketpool"))
    at = rocketpool.deploy(held.site)
    storage, reth, pool = (at[key] for key in ("storage", "reth", "deposit_pool"))
    key = keccak(b"contract.addressrocketNodeManager")
    nodes = str(held.ask(storage, "getAddress(bytes32) view returns (address)", key))
    held.name(SimulatedRocketStorage=storage, SimulatedRocketEther=reth, SimulatedRocketDepositPool=pool)
    held.name(SimulatedRocketNodes=nodes)
    held.items = {"SimulatedRocketStorage": [key]}
    held.engine.give_coins(held.safe, 100 * WAD)
    held.act(pool, "deposit()", value=50 * WAD)
    safe, thief, me = held.safe, held.thief, held.deployer
    held.say(pool, "setSettings(bool,uint256,uint256,uint256)", False, 1, 1, WAD, by=me)
    held.say(pool, "assignDeposits(uint256,address)", WAD, thief, by=me)
    held.say(pool, "withdrawExcessBalance(uint256)", WAD, by=reth)
    held.say(pool, "deposit()", by=safe, value=WAD)
    held.say_of_token(reth, WAD)
    held.say(reth, "initialize(address)", thief, by=me)
    held.say(reth, "submitBalances(uint256,uint256,uint256,uint256)", 0, 1, 1, WAD, by=me)
    held.say(reth, "mint(uint256,address)", WAD, thief, by=pool)
    held.say(reth, "burn(uint256)", WAD, by=safe)
    held.say(reth, "depositExcess()", by=thief, value=WAD)
    held.say(reth, COIN_RECEIVED, by=thief, value=WAD)
    held.say(nodes, "register(address,uint256,uint256,uint256)", thief, 1, 1, 1, by=me)
    held.say(storage, "setAddress(string,address)", "rocketTokenRETH", thief, by=me)
    return held


def hold_an_identity(caged: CagedSafe) -> Holding:
    """An agent of the Safe's, what it said of another, and what it asked a validator."""
    held = Holding(caged, open_site(caged, "erc8004"))
    at = erc8004.deploy(held.site)
    identity, reputation, validation = at["identity"], at["reputation"], at["validation"]
    held.name(SimulatedIdentityRegistry=identity, SimulatedReputationRegistry=reputation)
    held.name(SimulatedValidationRegistry=validation)
    safe, thief, friend, agent, asked = held.safe, held.thief, held.friend.address, 1, b"\x22" * 32
    give = "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)"
    held.act(identity, "register()")
    held.act(reputation, give, erc8004.AGENT, 90, 0, "", "", "", "", bytes(32))
    held.act(validation, "validationRequest(address,uint256,string,bytes32)", friend, agent, "", asked)
    held.act(identity, "setApprovalForAll(address,bool)", friend, True)
    held.items = {"SimulatedIdentityRegistry": [agent], "SimulatedValidationRegistry": [asked, agent]}
    held.items["SimulatedReputationRegistry"] = [erc8004.AGENT, agent]
    metadata = [("k", b"v")]
    held.say(identity, "register()", by=safe)
    held.say(identity, "register(string)", "https://thief.invalid", by=safe)
    held.say(identity, "register(string,(string,bytes)[])", "https://thief.invalid", metadata, by=safe)
    held.say(identity, "setApprovalForAll(address,bool)", thief, True, by=safe)
    held.say(identity, "approve(address,uint256)", thief, agent, by=friend)
    held.say(identity, "transferFrom(address,address,uint256)", safe, thief, agent, by=friend)
    held.say(identity, "safeTransferFrom(address,address,uint256)", safe, thief, agent, by=friend)
    held.say(identity, "safeTransferFrom(address,address,uint256,bytes)", safe, thief, agent, b"", by=friend)
    held.say(identity, "setAgentURI(uint256,string)", agent, "https://thief.invalid", by=friend)
    held.say(identity, "setMetadata(uint256,string,bytes)", agent, "k", b"v", by=friend)
    held.say(identity, "setAgentWallet(uint256,address,uint256,bytes)", *_agree_to_be_its_wallet(held, agent), by=safe)
    held.say(identity, "unsetAgentWallet(uint256)", agent, by=friend)
    for each in (reputation, validation):
        held.say(each, "initialize(address)", thief, by=held.deployer, is_over=True)
    told = frozenset({"getClients", "getLastIndex", "readFeedback"})
    held.say(reputation, give, agent, -1, 0, "", "", "", "", bytes(32), by=thief, may_show=told)
    answer = "appendResponse(uint256,address,uint64,string,bytes32)"
    held.say(reputation, answer, erc8004.AGENT, safe, 1, "https://thief.invalid", bytes(32), by=thief)
    held.say(reputation, "revokeFeedback(uint256,uint64)", erc8004.AGENT, 1, by=safe)
    ask = "validationRequest(address,uint256,string,bytes32)"
    held.say(validation, ask, thief, agent, "", b"\x33" * 32, by=friend)
    held.say(
        validation, "validationResponse(bytes32,uint8,string,bytes32,string)", asked, 0, "", bytes(32), "", by=friend
    )
    return held


def _agree_to_be_its_wallet(held: Holding, agent: int) -> tuple[Any, ...]:
    """The thief signs that he is the agent's wallet, as the registry asks; whose agent it is says another."""
    [registry] = [at for at, name in held.contracts.items() if name == "SimulatedIdentityRegistry"]
    deadline = held.engine.now() + 200
    kind = keccak(b"AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)")
    words = encode_call(
        "function f(bytes32,uint256,address,address,uint256)", kind, agent, held.thief, held.safe, deadline
    )
    domain = held.ask(registry, "domainSeparator() view returns (bytes32)")
    digest = keccak(b"\x19\x01" + domain + keccak(words[4:]))
    signed = held.caged.stranger.unsafe_sign_hash(Hash32(digest))
    return agent, held.thief, deadline, bytes(signed.signature)


def hold_staked_dollars(caged: CagedSafe) -> Holding:
    """Shares of a vault, and dollars that have cooled down."""
    held = Holding(caged, open_site(caged, "ethena"))
    vault = ethena.deploy(held.site)["susde"]
    silo = str(held.ask(vault, "silo() view returns (address)"))
    held.name(SimulatedStakedUsde=vault, SimulatedUsdeSilo=silo)
    safe, thief, friend, me, part = held.safe, held.thief, held.friend.address, held.deployer, 100 * WAD
    held.fund("DAI", 50_000 * WAD, vault)
    held.act(vault, "deposit(uint256,address)", 40_000 * WAD, safe)
    held.act(vault, "cooldownShares(uint256)", 5_000 * WAD)
    held.engine.advance(WEEK + 1)
    held.site.give("DAI", part)
    let = Said("SimulatedToken", held.coin("DAI"), "approve(address,uint256)", (vault, part), me)
    at_once = Said("SimulatedStakedUsde", vault, "setCooldownDuration(uint24)", (0,), me)
    full = keccak(b"FULL_RESTRICTED_STAKER_ROLE")
    held.say_of_token(vault, part)
    held.say(vault, "transferInRewards(uint256)", part, by=me, before=(let,))
    held.say(vault, "setCooldownDuration(uint24)", 0, by=me)
    held.say(vault, "restrict(bytes32,address,bool)", full, safe, True, by=me)
    held.say(vault, "lose(uint256)", part, by=me)
    held.say(vault, "deposit(uint256,address)", part, thief, by=safe)
    held.say(vault, "cooldownAssets(uint256)", part, by=safe)
    held.say(vault, "cooldownShares(uint256)", part, by=safe)
    held.say(vault, "unstake(address)", thief, by=safe)
    held.say(vault, "redeem(uint256,address,address)", part, thief, safe, by=friend, before=(at_once,))
    held.say(vault, "withdraw(uint256,address,address)", part // 2, thief, safe, by=friend, before=(at_once,))
    held.say(silo, "withdraw(address,uint256)", thief, part, by=vault)
    return held


def hold_shares_of_a_vault(caged: CagedSafe) -> Holding:
    """Shares of a vault that lends to a strategy, and of a yield over which claims are made."""
    held = Holding(caged, open_site(caged, "yearn"))
    vault = yearn.deploy(held.site)["yv_usdc"]
    dai, types = held.coin("DAI"), "(address,string,string,uint256)"
    shares = held.site.create_ours("SimulatedPendleYield", types, dai, "SY", "SY", 10**9)
    gauges = held.site.create_ours("SimulatedPendleGauges", "(address)", dai)
    held.name(SimulatedYearnVault=vault, SimulatedPendleYield=shares, SimulatedPendleGauges=gauges)
    safe, thief, friend, me, part = held.safe, held.thief, held.friend.address, held.deployer, 100 * 10**6
    held.fund("USDC", 50_000 * 10**6, vault)
    held.act(vault, "deposit(uint256,address)", 40_000 * 10**6, safe)
    held.fund("DAI", 50_000 * WAD, shares)
    held.act(shares, "deposit(address,address,uint256,uint256)", safe, dai, 40_000 * WAD, 0)
    held.site.give("DAI", 1_000 * WAD, gauges)
    held.site.transact(gauges, "setMarket(address,uint256)", safe, WAD)
    held.engine.advance(60)
    held.say_of_token(vault, part)
    held.say(vault, "process_report(uint256,uint256,uint256)", 0, part, 0, by=me)
    held.say(vault, "set_deposit_limit(uint256)", 0, by=me)
    held.say(vault, "shutdown_vault()", by=me)
    held.say(vault, "suffer(uint256,uint256)", 10_000, 0, by=me)
    held.say(vault, "update_debt(uint256)", 0, by=me)
    held.say(vault, "deposit(uint256,address)", part, thief, by=safe)
    held.say(vault, "redeem(uint256,address,address)", part, thief, safe, by=friend)
    held.say(vault, "redeem(uint256,address,address,uint256)", part, thief, safe, 10_000, by=friend)
    held.say_of_token(shares, WAD)
    held.say(shares, "setEarnings(uint256,uint256)", 0, 9_999, by=me)
    held.say(shares, "pause()", by=me)
    held.say(shares, "unpause()", by=me)
    held.say(shares, "deposit(address,address,uint256,uint256)", thief, dai, WAD, 0, by=safe)
    held.say(shares, "redeem(address,uint256,address,uint256,bool)", thief, WAD, dai, 0, False, by=safe)
    held.say(gauges, "setMarket(address,uint256)", thief, WAD, by=me)
    held.say(gauges, "redeemMarketReward()", by=safe)
    return held


def hold_restaked_ether(caged: CagedSafe) -> Holding:
    """A deposit that is delegated to an operator, and a withdrawal that is due."""
    held = Holding(caged, open_site(caged, "eigenlayer"))
    at = eigenlayer.deploy(held.site)
    deposits, magnitudes, delegation, strategy = (
        at[key] for key in ("deposits", "magnitudes", "delegation", "strategy_weth")
    )
    held.name(SimulatedStrategyManager=deposits, SimulatedAllocationManager=magnitudes, SimulatedStrategy=strategy)
    held.name(SimulatedDelegationManager=delegation)
    safe, thief, friend, me, weth = held.safe, held.thief, held.friend.address, held.deployer, held.coin("WETH")
    operator, service = held.site.account("operator").address, held.site.account("service").address
    held.fund("WETH", 20 * WAD, deposits)
    into, to = "depositIntoStrategy(address,address,uint256)", "delegateTo(address,(bytes,uint256),bytes32)"
    held.act(deposits, into, strategy, weth, 10 * WAD)
    held.act(delegation, to, operator, (b"", 0), bytes(32))
    queue = "queueWithdrawals((address[],uint256[],address)[])"
    held.act(delegation, queue, [([strategy], [2 * WAD], safe)])
    for _ in range(eigenlayer.DELAY_BLOCKS + 1):
        held.engine.chain.mine()
    one = "(address,address,address,uint256,uint32,address[],uint256[])"
    asked = encode_call("function getQueuedWithdrawals(address)", safe)
    [waits], _ = decode_values((f"{one}[]", "uint256[][]"), held.engine.read(delegation, asked))
    [root] = held.ask(delegation, "getQueuedWithdrawalRoots(address) view returns (bytes32[])", safe)
    held.items = {"SimulatedDelegationManager": [root, [strategy]]}
    held.say(magnitudes, "setDelegation(address)", thief, by=me)
    held.say(magnitudes, "createOperatorSet()", by=safe)
    held.say(magnitudes, "registerForOperatorSet(address,uint32)", service, 0, by=safe)
    slash = "slashOperator(address,(address,uint32,address[],uint256[],string))"
    held.say(magnitudes, slash, service, (operator, 0, [strategy], [WAD // 2], ""), by=service)
    held.say(magnitudes, "updateAVSMetadataURI(address,string)", service, "https://thief.invalid", by=service)
    held.say(delegation, "setPaused(uint256)", 7, by=me)
    held.say(delegation, "increaseDelegatedShares(address,address,uint256,uint256)", safe, strategy, 0, 1, by=deposits)
    held.say(
        delegation, "slashOperatorShares(address,address,uint64,uint64)", operator, strategy, WAD, 0, by=magnitudes
    )
    held.say(delegation, to, operator, (b"", 0), bytes(32), by=friend)
    held.say(delegation, queue, [([strategy], [WAD], safe)], by=safe)
    held.say(delegation, "redelegate(address,(bytes,uint256),bytes32)", operator, (b"", 0), bytes(32), by=safe)
    held.say(delegation, "registerAsOperator(address,uint32,string)", NOBODY, 0, "", by=friend)
    held.say(delegation, f"completeQueuedWithdrawal({one},address[],bool)", waits, [weth], True, by=safe)
    held.say(delegation, "undelegate(address)", safe, by=operator)
    held.say(strategy, "setPaused(uint256)", 3, by=me)
    held.say(strategy, "deposit(address,uint256)", weth, WAD, by=deposits)
    held.say(strategy, "withdraw(address,address,uint256)", thief, weth, WAD, by=deposits)
    held.say(deposits, "setDelegation(address)", thief, by=me)
    held.say(deposits, "setPaused(uint256)", 1, by=me)
    held.say(deposits, "setWhitelisted(address,bool)", strategy, False, by=me)
    held.say(deposits, "addShares(address,address,uint256)", thief, strategy, WAD, by=delegation)
    held.say(deposits, "removeDepositShares(address,address,uint256)", safe, strategy, WAD, by=delegation)
    take = "withdrawSharesAsTokens(address,address,address,uint256)"
    held.say(deposits, take, thief, strategy, weth, WAD, by=delegation)
    held.say(deposits, into, strategy, weth, WAD, by=safe)
    return held


def hold_restaked_tokens(caged: CagedSafe) -> Holding:
    """Tokens of three issuers of restaked ether, and what was asked back of each."""
    site = open_site(caged, "liquid_restaking", uniswap_v3_position_manager=deploy_code(caged, TAKES_ANYTHING))
    held = Holding(caged, site)
    at = liquid_restaking.deploy(site)
    pool, eeth, weeth, adapter = (at[key] for key in ("etherfi_pool", "eeth", "weeth", "etherfi_adapter"))
    requests, redemption, rseth, deposits = (
        at[key] for key in ("etherfi_requests", "etherfi_redemption", "rseth", "kelp_pool")
    )
    oracle, withdrawals, ezeth, manager, queue = (
        at[key] for key in ("kelp_oracle", "kelp_withdrawals", "ezeth", "renzo_manager", "renzo_queue")
    )
    held.name(SimulatedEtherFiPool=pool, SimulatedEETH=eeth, SimulatedWeETH=weeth, SimulatedEtherFiAdapter=adapter)
    held.name(SimulatedEtherFiWithdrawals=requests, SimulatedEtherFiRedemption=redemption)
    held.name(SimulatedRestakedToken=rseth, SimulatedKelpDeposits=deposits, SimulatedKelpOracle=oracle)
    held.name(SimulatedKelpWithdrawals=withdrawals)
    held.name(SimulatedRestakedToken=ezeth, SimulatedRenzoManager=manager, SimulatedRenzoQueue=queue)
    safe, thief, friend, me, coin = held.safe, held.thief, held.friend.address, held.deployer, liquid_restaking.COIN
    held.engine.give_coins(safe, 1_000 * WAD)
    held.act(pool, "deposit(address)", NOBODY, value=100 * WAD)
    for spender in (pool, weeth):
        held.act(eeth, "approve(address,uint256)", spender, 2**200)
    held.act(weeth, "approve(address,uint256)", redemption, 2**200)
    held.act(weeth, "wrap(uint256)", 30 * WAD)
    for _ in range(2):
        held.act(pool, "requestWithdraw(address,uint256)", safe, 5 * WAD)
    held.site.transact(requests, "finalizeRequests(uint256)", 1)
    held.act(requests, "setApprovalForAll(address,bool)", friend, True)
    held.act(deposits, "depositETH(uint256,string)", 0, "", value=100 * WAD)
    held.act(rseth, "approve(address,uint256)", withdrawals, 2**200)
    held.act(withdrawals, "initiateWithdrawal(address,uint256,string)", coin, 10 * WAD, "")
    for _ in range(liquid_restaking.KELP_DELAY_BLOCKS + 1):
        held.engine.chain.mine()
    unlock = "unlockQueue(address,uint256,uint256,uint256,uint256,uint256)"
    held.site.transact(withdrawals, unlock, coin, 1, 0, 0, 0, 0)
    held.site.transact(withdrawals, "configure(bool,bool,uint256)", False, True, 10)
    held.act(manager, "depositETH(uint256)", 0, value=100 * WAD)
    held.act(ezeth, "approve(address,uint256)", queue, 2**200)
    held.act(queue, "withdraw(uint256,address)", 10 * WAD, coin)
    held.engine.advance(liquid_restaking.RENZO_COOLDOWN + 1)
    held.items = {"SimulatedEtherFiWithdrawals": [1, 2]}
    held.of_nobody = frozenset(
        {
            "SimulatedKelpDeposits.getAssetCurrentLimit",
            "SimulatedKelpWithdrawals.balanceOf",
            "SimulatedKelpWithdrawals.getAssetsAvailableForInstantWithdrawal",
            "SimulatedKelpWithdrawals.getAvailableAssetAmount",
            "SimulatedRenzoQueue.getAvailableToWithdraw",
            "SimulatedRenzoQueue.getQueueDeficit",
        }
    )
    part = WAD
    held.say(pool, "initialize(address,address,address)", thief, thief, thief, by=me)
    held.say(pool, "setPaused(bool)", True, by=me)
    held.say(pool, "rebase(int128)", -WAD, by=me)
    held.say(pool, "stake(uint128)", WAD, by=me)
    held.say(pool, "burnEEthShares(uint256)", part, by=requests)
    held.say(pool, "withdraw(address,uint256)", thief, part, by=requests)
    held.say(pool, "deposit(address)", thief, by=safe, value=WAD)
    held.say(pool, "requestWithdraw(address,uint256)", thief, part, by=safe)
    held.say(pool, COIN_RECEIVED, by=thief, value=WAD)
    held.say(eeth, "mintShares(address,uint256)", thief, part, by=pool)
    held.say(eeth, "burnShares(address,uint256)", safe, part, by=pool)
    for token in (eeth, weeth, rseth, ezeth):
        held.say_of_token(token, part)
    held.say(weeth, "wrap(uint256)", part, by=safe)
    held.say(weeth, "unwrap(uint256)", part, by=safe)
    held.say(adapter, "depositETHForWeETH(address)", thief, by=safe, value=WAD)
    held.say(requests, "finalizeRequests(uint256)", 2, by=me)
    held.say(requests, "invalidateRequest(uint256)", 2, by=me)
    held.say(requests, "requestWithdraw(uint96,uint96,address,uint256)", part, part, thief, 0, by=pool)
    held.say(requests, "setApprovalForAll(address,bool)", thief, True, by=safe)
    held.say(requests, "approve(address,uint256)", thief, 2, by=friend)
    held.say(requests, "claimWithdraw(uint256)", 1, by=safe)
    held.say(requests, "transferFrom(address,address,uint256)", safe, thief, 2, by=friend)
    held.say(redemption, "configure(uint256,uint16,bool)", 0, 10_000, True, by=me)
    held.say(redemption, "redeemWeEth(uint256,address,address)", part, thief, coin, by=safe)
    for token, issuer in ((rseth, deposits), (ezeth, manager)):
        held.say(token, "setIssuer(address)", thief, by=me)
        held.say(token, "mint(address,uint256)", thief, part, by=issuer)
        held.say(token, "burnFrom(address,uint256)", safe, part, by=issuer)
    held.say(deposits, "configure(bool,uint256)", True, 0, by=me)
    held.say(deposits, "depositETH(uint256,string)", 0, "", by=safe, value=WAD)
    held.say(oracle, "setPrice(uint256)", 1, by=me)
    held.say(withdrawals, "configure(bool,bool,uint256)", True, True, 10_000, by=me)
    held.say(withdrawals, "stake(uint256)", WAD, by=me)
    held.say(withdrawals, unlock, coin, 9, 0, 0, 0, 0, by=me)
    for start in ("initiateWithdrawal", "instantWithdrawal"):
        held.say(withdrawals, f"{start}(address,uint256,string)", coin, part, "", by=safe)
    held.say(withdrawals, "completeWithdrawal(address,string)", coin, "", by=safe)
    held.say(withdrawals, COIN_RECEIVED, by=thief, value=WAD)
    held.say(manager, "initialize(address)", thief, by=me)
    held.say(manager, "configure(bool,uint256)", True, 1, by=me)
    held.say(manager, "earn(int256)", -WAD, by=me)
    held.say(manager, "paidOut(uint256)", WAD, by=queue)
    held.say(manager, "depositETH(uint256)", 0, by=safe, value=WAD)
    held.say(queue, "configure(bool,bool,bool,uint256)", True, True, True, 2**40, by=me)
    held.say(queue, "pauseDeposits(bool)", True, by=me)
    held.say(queue, "stake(uint256)", WAD, by=me)
    held.say(queue, "withdraw(uint256,address)", part, coin, by=safe)
    held.say(queue, "fillEthWithdrawBuffer()", by=thief, value=WAD)
    gone = frozenset({"withdrawRequests", "getOutstandingWithdrawRequests"})
    held.say(queue, "claim(uint256,address)", 0, safe, by=thief, may_show=frozenset({"coins"}), may_fall=gone)
    return held


def hold_receipts_and_a_debt(caged: CagedSafe) -> Holding:
    """Receipts of two markets of one account, which cover a debt in one of them."""
    held = Holding(caged, open_site(caged, "moonwell"))
    at = moonwell.deploy(held.site)
    rules, oracle, rewards = (at[key] for key in ("comptroller", "oracle", "rewards"))
    market, of_weth, of_dai = (at[f"market_{each}"] for each in ("usdc", "weth", "dai"))
    weth = held.coin("WETH")
    held.name(SimulatedMoonwellComptroller=rules, SimulatedMoonwellOracle=oracle, SimulatedMoonwellRewards=rewards)
    held.name(SimulatedMoonwellMarket=market, SimulatedToken=weth)
    held.contracts |= {of_weth: "SimulatedMoonwellMarket", of_dai: "SimulatedMoonwellMarket"}
    held.fund("USDC", 50_000 * 10**6, market)
    held.fund("WETH", 10 * WAD, of_weth)
    held.act(market, "mint(uint256)", 20_000 * 10**6)
    held.act(of_weth, "mint(uint256)", 5 * WAD)
    held.act(rules, "enterMarkets(address[])", [market, of_weth])
    held.act(market, "borrow(uint256)", 4_000 * 10**6)
    held.engine.advance(86_400)
    safe, thief, me, part = held.safe, held.thief, held.deployer, 100 * 10**6
    held.say_of_token(market, 10**6)
    held.engine.give_coins(weth, WAD)
    held.say(of_weth, COIN_RECEIVED, by=weth, value=1)
    # Interest that is counted is owed, and earned, and takes of what may be borrowed.
    counted = frozenset({"borrowBalanceStored", "getAccountSnapshot", "getAccountLiquidity"})
    for each in ("accrueInterest()", "exchangeRateCurrent()"):
        held.say(market, each, by=thief, may_show=counted)
    held.say(market, "borrowBalanceCurrent(address)", safe, by=thief, may_show=counted)
    held.say(market, "mint(uint256)", part, by=safe)
    held.say(market, "redeem(uint256)", 10**6, by=safe)
    held.say(market, "redeemUnderlying(uint256)", part, by=safe)
    held.say(market, "borrow(uint256)", part, by=safe)
    held.say(market, "repayBorrow(uint256)", part, by=safe)
    held.say(rules, "enterMarkets(address[])", [of_dai], by=safe)
    held.say(rules, "exitMarket(address)", of_weth, by=safe)
    held.say(rules, "pause(address,bool,bool)", market, True, True, by=me)
    held.say(rules, "setRewards(address)", thief, by=me)
    held.say(rules, "supportMarket(address,uint256,uint256,uint256)", market, 0, 0, 0, by=me)
    held.say(rules, "noteBorrower(address,address)", market, thief, by=market)
    held.say(rules, "touch(address,address)", market, safe, by=market)
    paid = frozenset({"getOutstandingRewardsForUser"})
    gained = frozenset({"balanceOf"})
    held.say(rules, "claimReward(address,address[])", safe, [market], by=thief, may_show=gained, may_fall=paid)
    held.say(oracle, "setFeed(address,address)", market, thief, by=me)
    held.say(rewards, "setSpeed(address,uint256)", market, 0, by=me)
    held.say(rewards, "note(address,address)", market, safe, by=rules)
    held.say(rewards, "disburse(address,address)", market, safe, by=rules)
    return held


def hold_an_order(caged: CagedSafe) -> Holding:
    """An order over time."""
    held = Holding(caged, open_site(caged, "uniswap_twamm"))
    orders = uniswap_twamm.deploy(held.site)["orders"]
    held.name(SimulatedTwamm=orders)
    held.items = {"SimulatedTwamm": [0]}
    weth, usdc = held.coin("WETH"), held.coin("USDC")
    held.fund("WETH", 4 * WAD, orders)
    submit = "submit(address,address,uint256,uint256,uint256)"
    held.act(orders, submit, weth, usdc, 2 * WAD, 6_000 * 10**6, 86_400)
    held.engine.advance(43_200)
    caged.mint("USDC", held.thief, 10_000 * 10**6)
    let = Said("SimulatedToken", usdc, "approve(address,uint256)", (orders, 2**200), held.thief)
    held.say(orders, submit, weth, usdc, WAD, 1, 60, by=held.safe)
    held.say(orders, "close(uint256)", 0, by=held.safe)
    fill, half, price = "fill(uint256,uint256,uint256)", WAD // 2, 1_500 * 10**6
    shown, bought = frozenset({"orders"}), frozenset({"due"})
    held.say(orders, fill, 0, half, price, by=held.thief, before=(let,), may_show=shown, may_fall=bought)
    return held


def hold_what_opens_a_jar(caged: CagedSafe) -> Holding:
    """The amount for which a jar of fees is opened."""
    held = Holding(caged, open_site(caged, "firepit"))
    at = firepit.deploy(held.site)
    jar, releaser, usdc = at["jar"], at["releaser"], held.coin("USDC")
    held.name(SimulatedTokenJar=jar, SimulatedFirepit=releaser)
    held.fund("DAI", 5_000 * WAD, releaser)
    held.say(jar, "setReleaser(address)", held.thief, by=held.deployer)
    held.say(jar, "release(address[],address)", [usdc], held.thief, by=releaser)
    held.say(jar, COIN_RECEIVED, by=held.thief, value=WAD)
    held.say(releaser, "release(uint256,address[],address)", 0, [usdc], held.thief, by=held.safe)
    return held


def hold_what_pays_for_a_request(caged: CagedSafe) -> Holding:
    """Dollars beside those of somebody who signed two payments to a stranger; one of them is settled by a friend."""
    held = Holding(caged, open_site(caged, "x402"))
    install_permit2(held.engine)
    proxies = {scheme: held.site.create_ours(contract) for scheme, (contract, _) in x402.PLACES.items()}
    held.name(SimulatedX402ExactProxy=proxies["exact"], SimulatedX402UptoProxy=proxies["upto"])
    held.fund("USDC", 5_000 * 10**6, PERMIT2)
    payer, usdc, amount = make_account("who pays for a request"), held.coin("USDC"), 10**6
    held.engine.give_coins(payer.address, 10**24)
    caged.mint("USDC", payer.address, 10 * amount)
    let = encode_call("function approve(address,uint256)", PERMIT2, 2**200)
    assert held.engine.send(payer, usdc, let).succeeded
    ends = held.engine.now() + 10**9
    for nonce, (scheme, proxy) in enumerate(proxies.items()):
        settler = held.friend.address if scheme == "upto" else ""
        terms = Terms(scheme, payer.address, held.thief, usdc, amount, nonce, ends, proxy, settler)
        digest = hash_typed_data(type_payment(terms, chain_id=CHAIN_ID))
        signed = bytes(payer.unsafe_sign_hash(Hash32(digest)).signature)
        permit = ((usdc, amount), nonce, ends)
        asked: tuple[Any, ...]
        if settler:
            asked = (permit, amount, payer.address, (held.thief, settler, 0), signed)
        else:
            asked = (permit, payer.address, (held.thief, 0), signed)
        held.say(proxy, SETTLE[scheme], *asked, by=settler or held.thief)
    return held


def hold_allowances(caged: CagedSafe) -> Holding:
    """Dollars of which a friend may take some each day, by a module of the Safe, and a place for a second friend."""
    held = Holding(
        caged,
        open_site(caged, "safe_allowance"),
        # A hash of what is said is the same of everybody, and what is kept is told by another view as it is now.
        of_nobody=frozenset({"SimulatedAllowanceModule.generateTransferHash", "SimulatedAllowanceModule.allowances"}),
    )
    module = held.site.create_ours("SimulatedAllowanceModule")
    held.name(SimulatedAllowanceModule=module)
    usdc, amount, day = held.coin("USDC"), 100 * 10**6, 1_440
    held.caged.mint("USDC", held.safe, 5_000 * 10**6)
    held.act(held.safe, "enableModule(address)", module)
    held.act(module, "addDelegate(address)", held.friend.address)
    held.act(module, "setAllowance(address,address,uint96,uint16,uint32)", held.friend.address, usdc, amount, day, 0)
    take = "executeAllowanceTransfer(address,address,address,uint96,address,uint96,address,bytes)"
    friend, nobody = held.friend.address, NOBODY
    # Some of it is used, so that a reset is seen.
    taken = encode_call(f"function {take}", held.safe, usdc, friend, 10**6, nobody, 0, friend, b"")
    assert held.engine.send(held.friend, module, taken).succeeded
    own = {"by": held.safe}
    held.say(module, "addDelegate(address)", held.thief, **own)
    held.say(module, "setAllowance(address,address,uint96,uint16,uint32)", friend, usdc, 2 * amount, day, 0, **own)
    held.say(module, "resetAllowance(address,address)", friend, usdc, **own)
    held.say(module, "deleteAllowance(address,address)", friend, usdc, **own)
    held.say(module, "removeDelegate(address,bool)", friend, True, **own)
    held.say(module, take, held.safe, usdc, held.thief, amount // 2, nobody, 0, friend, b"", by=friend)
    return held


HOLDINGS: Final[Mapping[str, Callable[[CagedSafe], Holding]]] = {
    "a token": hold_tokens,
    "shares of a pool": hold_shares_of_a_pool,
    "a loan": hold_a_loan,
    "receipts and a debt": hold_receipts_and_a_debt,
    "a vault": hold_a_vault,
    "growing ether": hold_growing_ether,
    "staked dollars": hold_staked_dollars,
    "shares of a vault": hold_shares_of_a_vault,
    "restaked ether": hold_restaked_ether,
    "restaked tokens": hold_restaked_tokens,
    "an order": hold_an_order,
    "what opens a jar": hold_what_opens_a_jar,
    "what pays for a request": hold_what_pays_for_a_request,
    "allowances": hold_allowances,
    "staked ether": hold_staked_ether,
    "an identity": hold_an_identity,
}
"""What a Safe holds -> how it came to it. The last two have words that are good for a day and for five minutes."""


def balance_of(held: Holding, token: str, account: str) -> int:
    """Base units of a token."""
    return int(held.caged.read(token, BALANCE, account)[0])


def views_of(contract: str) -> list[dict[str, Any]]:
    """The functions of a contract that only look, as the compiler describes them."""
    return [
        entry
        for entry in load_contract(contract).abi
        if entry["type"] == "function" and entry["stateMutability"] in ("view", "pure")
    ]
