"""What strangers open, send or ask for in a Safe's name: however much it is, batches run, and within a stated gas."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.cage_set_up.deployment import build_valuer
from golem_project.embedded.world.accounts import CHAIN_ID, derive_account
from permits_app.policy_cage.contract import AssetRule, asset_rules, valuer_rule
from tests.contracts.attackers import class_of, ran, refused
from tests.contracts.pool_thief import MULTICALL, PoolThief, touch
from tests.evm.world import World
from tests.proof.caged.engines import NodeEngine
from tests.proof.caged.safe import APPROVE, TRANSFER, CagedSafe, build_caged_safe, set_session
from tests.proof.caged.uniswap import INCREASE, MINT_V3
from tests.proof.holding_steps import STEPS
from tests.proof.holding_walk import HoldingsWalk
from tools_app.chain.abi import checksum, encode_call
from tools_app.protocols.morpho_blue.addresses import known_markets
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE

MOST_GAS = 8_000_000
"""What a batch may cost beside all that strangers opened: half of what one transaction may use."""
LEAVING = 0
LIDO_AT_ONCE = 25
MAKER_OPEN = "function open(bytes32 ilk, address usr)"
SUBMIT = "function submit(address referral)"
ASK = "function requestWithdrawals(uint256[] amounts, address owner)"
SUPPLY = "function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)"
DEPOSIT = "function deposit(uint256 assets, address receiver)"
_PARAMS = "(address loanToken, address collateralToken, address oracle, address irm, uint256 lltv) params"
LEND = f"function supply({_PARAMS}, uint256 assets, uint256 shares, address onBehalf, bytes data)"
PLEDGE = f"function supplyCollateral({_PARAMS}, uint256 assets, address onBehalf, bytes data)"


class StrangersNextDoor:
    """A caged Safe on the local chain with a protocol's first valuer, and strangers with coins, ether and dollars."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.engine = world, NodeEngine(world.rpc)
        self.caged = build_caged_safe(self.engine, salt=356)
        self.walk = HoldingsWalk.begin(world.rpc, "open-handed", world.protocols)
        reader, _ = self.walk.read()
        for subject, valuer in SHELF.valuers_on(CHAIN_ID):
            protocol = SHELF.of_contract(CHAIN_ID, subject)
            if protocol is not None and protocol.name == name:
                self.place, self.at = subject, protocol.deployments(CHAIN_ID) or {}
                made = self.engine.send(self.caged.deployer, None, build_valuer(reader, valuer)).created
                break
        assert made
        weth = world.tokens["WETH"]
        rules = [valuer_rule(self.place, made)]
        for token, feed, decimals in (
            (NATIVE, weth.feed, 18),
            *(
                (each.address, each.feed, each.decimals)
                for each in map(world.tokens.__getitem__, ("WETH", "DAI", "USDC"))
            ),
        ):
            rules += asset_rules(token, AssetRule(feed, 10**6, decimals, 8), per_batch=10**30, per_window=10**30)
        self.caged.change(*rules)
        for coin in self.caged.coins.values():
            self.caged.set_price(coin.symbol, coin.price)
        set_session(self.caged)

    def do(self, to: str, signature: str, *args: Any, value: int = 0) -> None:
        """A stranger's transaction."""
        account = derive_account("open-handed")
        assert self.engine.send(account, to, encode_call(signature, *args), value).succeeded

    def let(self, token: str, spender: str) -> None:
        self.do(token, APPROVE, spender, 2**200)

    def seen(self) -> int:
        """What the cage counts at the place, in micro-USD."""
        at = [each.lower() for each in self.caged.ask("positions")].index(self.place.lower())
        return int(self.caged.ask("measure")[2][at])

    # ---- what strangers do

    def open_vaults(self, count: int) -> None:
        for _ in range(count):
            self.do(self.at["cdp_manager"], MAKER_OPEN, b"ETH-A".ljust(32, b"\0"), self.caged.safe)

    def ask_for_dust(self, count: int) -> None:
        self.do(self.at["steth"], SUBMIT, "0x" + "00" * 20, value=10**18)
        self.let(self.at["steth"], self.at["queue"])
        for _ in range(count // LIDO_AT_ONCE):
            self.do(self.at["queue"], ASK, [100] * LIDO_AT_ONCE, self.caged.safe)

    def lend_dust(self) -> None:
        for symbol in ("USDC", "WETH", "DAI"):
            token = self.world.tokens[symbol].address
            self.let(token, self.place)
            self.do(self.place, SUPPLY, token, 10, self.caged.safe, 0)

    def lend_dust_in_every_market(self) -> None:
        for market in known_markets(CHAIN_ID):
            asked = (market.loan_token, market.collateral_token, market.oracle, market.irm, market.lltv)
            self.let(market.loan_token, self.place)
            self.do(self.place, LEND, asked, 10, 0, self.caged.safe, b"")
            if not market.is_idle:
                self.let(market.collateral_token, self.place)
                self.do(self.place, PLEDGE, asked, 10, self.caged.safe, b"")

    def deposit_dust(self) -> None:
        asset = checksum(self.world.rpc.read(self.place, "asset()", returns="(address)")[0])
        self.let(asset, self.place)
        self.do(self.place, DEPOSIT, 10**6, self.caged.safe)


@pytest.mark.protocols("maker")
def test_a_hundred_empty_vaults_that_strangers_opened_stop_no_batch(local_chain: World) -> None:
    next_door = StrangersNextDoor(local_chain, "maker")
    next_door.open_vaults(100)
    assert touch(next_door.caged).gas_used < MOST_GAS
    # Nor do more than are counted.
    next_door.open_vaults(60)
    assert touch(next_door.caged).gas_used < MOST_GAS


@pytest.mark.protocols("lido")
def test_two_hundred_withdrawals_of_dust_that_strangers_asked_for_stop_no_batch(local_chain: World) -> None:
    next_door = StrangersNextDoor(local_chain, "lido")
    next_door.ask_for_dust(200)
    assert next_door.seen() == 0
    assert touch(next_door.caged).gas_used < MOST_GAS
    next_door.ask_for_dust(100)
    assert touch(next_door.caged).gas_used < MOST_GAS


@pytest.mark.protocols("aave_v3", "spark", "morpho", "erc4626")
@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("aave_v3", "lend_dust"),
        ("spark", "lend_dust"),
        ("morpho", "lend_dust_in_every_market"),
        ("erc4626", "deposit_dust"),
    ],
)
def test_dust_that_strangers_put_in_for_the_safe_stops_no_batch(name: str, act: str, local_chain: World) -> None:
    next_door = StrangersNextDoor(local_chain, name)
    getattr(next_door, act)()
    assert touch(next_door.caged).gas_used < MOST_GAS


@pytest.mark.protocols("rocketpool", "sushi_bar", "lido", "erc4626")
@pytest.mark.parametrize(
    ("name", "way_in"),
    [
        ("rocketpool", "rocketpool_stake"),
        ("sushi_bar", "sushi_bar_enter"),
        ("lido", "lido_stake stETH"),
        ("erc4626", "vault_deposit"),
    ],
)
def test_shares_that_strangers_send_stop_no_batch(name: str, way_in: str, local_chain: World) -> None:
    next_door = StrangersNextDoor(local_chain, name)
    found = STEPS[way_in](next_door.walk, 60, 0)
    assert found is not None and next_door.walk.act(found)
    next_door.do(next_door.place, TRANSFER, next_door.caged.safe, 10**6)
    assert touch(next_door.caged).gas_used < MOST_GAS


def give_positions(thief: PoolThief, count: int, dollars: float = 0.005) -> None:
    """Wide positions of so much each, as the Safe's."""
    v3, caged = thief.v3, thief.caged
    caged.mint("USDC", v3.thief.address, caged.coins["USDC"].units(10_000))
    given = encode_call(MINT_V3, v3.minting(thief.usdc, thief.weth, 500, dollars, caged.safe))
    for _ in range(0, count, 16):
        v3.as_thief(v3.npm, MULTICALL, [given] * 16)


@pytest.mark.parametrize("dollars", [0.001, 1])
def test_a_hundred_positions_in_pools_that_strangers_gave_stop_no_batch(caged: CagedSafe, dollars: float) -> None:
    thief = PoolThief(caged)
    ran(caged, caged.execute(*thief.minting(1_000, 10_000)))
    give_positions(thief, 112, dollars)
    seen = caged.ask("measure")[6]
    assert touch(caged).gas_used < MOST_GAS
    # What was there before is counted as before, and left as before.
    sent = ran(caged, caged.execute(*thief.v3.leave(1, thief.v3.liquidity(1))))
    assert class_of(sent) == LEAVING and sent.gas_used < MOST_GAS
    assert abs(caged.ask("measure")[6] - seen) < 10


def test_what_the_key_opens_behind_what_is_counted_is_a_loss_and_is_refused(caged: CagedSafe) -> None:
    thief = PoolThief(caged)
    give_positions(thief, 64)
    assert refused(caged, caged.execute(*thief.minting(1_000, 5_000))) == "LossTooLarge"
    # The owners clear one, and there is room.
    away = "function transferFrom(address from, address to, uint256 tokenId)"
    assert caged.owner_call(thief.v3.npm, encode_call(away, caged.safe, thief.v3.thief.address, 64)).succeeded
    ran(caged, caged.execute(*thief.minting(1_000, 5_000)))


def test_strangers_push_nothing_that_counted_out_of_what_counts(caged: CagedSafe) -> None:
    thief = PoolThief(caged)
    give_positions(thief, 48, 0.001)
    ran(caged, caged.execute(*thief.minting(1_000, 10_000)))
    before = caged.ask("measure")[6]
    give_positions(thief, 48, 1)
    # What was next to nothing becomes something.
    for symbol in ("USDC", "WETH"):
        caged.mint(symbol, thief.v3.thief.address, caged.coins[symbol].units(100))
    *_, amount0, amount1 = thief.v3.order(thief.usdc, thief.weth, 2)
    for number in range(1, 49):
        thief.v3.as_thief(thief.v3.npm, INCREASE, (number, amount0, amount1, 0, 0, 2**40))
    assert caged.ask("measure")[6] >= before
    stolen = thief.v3.leave(49, thief.v3.liquidity(49), thief.v3.thief.address)
    assert refused(caged, caged.execute(*stolen)) == "LossTooLarge"
