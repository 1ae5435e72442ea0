"""The contracts that value positions for cages say what the product's one net asset value says, on the same blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from golem_project.proof.holding_steps import STEPS
from golem_project.proof.holding_walk import HoldingsWalk
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import valuer_rule
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import World
from tests.tools_app.protocols.uniswap.test_liquidity import ETH, open_position
from tools_app.portfolio.holdings import Holdings
from tools_app.toolkit.protocol import SHELF, ValuerKind
from tools_app.toolkit.views import NATIVE

RESERVES_LIST = "function getReservesList() view returns (address[] list)"
RESERVE_DATA = (
    "function getReserveData(address asset) view returns ((uint256 configuration, uint128 liquidityIndex,"
    " uint128 liquidityRate, uint128 borrowIndex, uint128 borrowRate, uint128 stableRate, uint40 updatedAt, uint16 id,"
    " address aToken, address stableDebt, address variableDebt, address strategy, uint128 toTreasury,"
    " uint128 unbacked, uint128 isolatedDebt) data)"
)
VALUED: dict[ValuerKind, tuple[str, frozenset[str]]] = {
    ValuerKind.CONCENTRATED_LIQUIDITY: ("V3PositionValuer", frozenset({"uniswap"})),
    ValuerKind.LENDING_ACCOUNT: ("LendingValuer", frozenset({"aave_v3", "spark"})),
    ValuerKind.SHARE: ("Erc4626Valuer", frozenset({"erc4626"})),
}
"""Kinds that a contract can value, and the protocols whose contracts it knows how to ask."""
NOT_VALUED_YET = {
    ("lido", ValuerKind.SHARE): "stETH and wstETH tell their worth in calls of their own",
    ("lido", ValuerKind.QUEUE): "no contract values a place in a queue",
    ("maker", ValuerKind.COLLATERAL_VAULT): "no contract values a vault of collateral and debt",
    ("morpho", ValuerKind.LENDING_MARKET): "no contract values an account in one market",
    ("rocketpool", ValuerKind.SHARE): "rETH tells its worth in a call of its own",
}
"""Under a cage on a chain these count as nothing; what goes in is lost to its limits."""
LEND_AND_SHARE = (
    "aave_supply WETH",
    "aave_supply DAI",
    "aave_borrow USDC",
    "spark_supply WETH",
    "aave_borrow DAI",
    "spark_borrow DAI",
    "vault_deposit",
    "aave_repay",
    "spark_repay",
    "vault_withdraw",
    "aave_withdraw",
    "spark_withdraw",
)


@dataclass
class BothSides:
    """One account, walked by the product's tools and watched by a cage with every valuer there is."""

    walk: HoldingsWalk
    cage: WorldCage
    targets: dict[str, tuple[str, str]]
    """Protocol -> the contract that stands for it in the cage, and the kind of its positions."""

    def compare(self) -> Holdings:
        """Each protocol's positions and the whole of the account, at one block."""
        reader, holdings = self.walk.read()
        signature = FUNCTIONS["measure"]
        [measured] = self.cage.read(self.cage.cage, signature, block=reader.block.number)
        listed = self.cage.read(self.cage.cage, FUNCTIONS["positions"], block=reader.block.number)[0]
        places = [address.lower() for address in listed]
        legs = 0
        for protocol, (target, kind) in self.targets.items():
            mine = [each for each in holdings.positions if each.ref.protocol == protocol and each.ref.kind == kind]
            at = places.index(target.lower())
            told, debt = measured[2][at] - measured[3][at], measured[3][at]
            parts = sum(len(each.parts) for each in mine)
            assert all(each.micro_usd is not None for each in mine), f"{protocol} is not told whole"
            assert abs(told - sum(each.micro_usd or 0 for each in mine)) <= parts, protocol
            assert abs(debt - sum(each.debt_micro_usd for each in mine)) <= parts, protocol
            legs += parts
        coin = holdings.token(NATIVE)
        assert coin is not None and coin.micro_usd is not None
        assert abs(measured[6] - (holdings.nav_micro_usd - coin.micro_usd)) <= legs + len(holdings.tokens)
        return holdings


def deploy_lending(world: World, pool: str, *, ask: Any) -> str:
    [reserves] = ask(pool, RESERVES_LIST)
    data = [ask(pool, RESERVE_DATA, reserve)[0] for reserve in reserves]
    rows = [(reserve, each[8], each[10]) for reserve, each in zip(reserves, data, strict=True)]
    return world.deploy(world.actors.deployer, "LendingValuer", "(address,(address,address,address)[])", pool, rows)


@pytest.fixture
def both(local_chain: World) -> Iterator[BothSides]:
    world = local_chain
    account = derive_account("both sides")
    walk = HoldingsWalk.begin(world.rpc, "both sides", world.protocols)
    looking = WorldCage.__new__(WorldCage)
    looking.world = world
    aave, spark = (world.protocols[name]["pool"] for name in ("aave_v3", "spark"))
    vault = world.protocols["erc4626"]["vault"]
    valuers = {
        aave: deploy_lending(world, aave, ask=looking.read),
        spark: deploy_lending(world, spark, ask=looking.read),
        vault: world.deploy(world.actors.deployer, "Erc4626Valuer", "(address)", vault),
    }
    cage = WorldCage(world, [valuer_rule(*each) for each in valuers.items()], account)
    targets = {
        "aave_v3": (aave, "account"),
        "spark": (spark, "account"),
        "erc4626": (vault, "vault"),
        "uniswap": (cage.manager, "nft"),
    }
    yield BothSides(walk, cage, targets)


@pytest.mark.protocols("aave_v3", "spark", "erc4626")
def test_after_every_step_contracts_and_product_tell_one_value(both: BothSides) -> None:
    both.compare()
    open_position(both.cage.world, both.cage.maker)
    open_position(both.cage.world, both.cage.maker, price_lower="3100", price_upper="3600")
    assert len(both.compare().positions) == 2
    seen: set[str] = set()
    for name in LEND_AND_SHARE:
        found = STEPS[name](both.walk, 60, 0)
        assert found is not None and both.walk.act(found), name
        seen |= {each.ref.protocol for each in both.compare().positions}
    assert seen == set(both.targets)
    # Interest that no transaction wrote down yet, and fees that somebody paid.
    both.walk.pass_time(1_800)
    holdings = both.compare()
    assert holdings.debt_micro_usd > 0


@pytest.mark.protocols("aave_v3", "spark", "erc4626")
def test_a_pushed_pool_and_a_fallen_feed_leave_both_at_one_value(both: BothSides) -> None:
    world = both.cage.world
    open_position(world, both.cage.maker)
    for name in LEND_AND_SHARE[:7]:
        found = STEPS[name](both.walk, 60, 0)
        assert found is not None and both.walk.act(found), name
    trader, usdc, weth = world.new_account(ETH, {"USDC": 10**12}), world.tokens["USDC"], world.tokens["WETH"]
    router = world.contracts["uniswap_v3_swap_router_02"]
    world.transact(trader, usdc.address, "approve(address,uint256)", router, 10**12)
    swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    world.transact(trader, router, swap, (usdc.address, weth.address, 500, trader.address, 10**12, 0, 0))
    before = both.compare().nav_micro_usd
    world.transact(world.actors.deployer, weth.feed, "setAnswer(int256)", 2_800 * 10**8)
    assert both.compare().nav_micro_usd < before


def test_every_kind_of_position_is_valued_by_a_contract_or_named_as_missing() -> None:
    kinds = {
        (protocol.name, contract.valuer)
        for protocol in SHELF
        for contract in protocol.contracts
        if contract.valuer is not None and protocol.name in {"uniswap", *_protocols()}
    }
    valued = {(name, kind) for kind, (_, names) in VALUED.items() for name in names}
    assert kinds == valued | NOT_VALUED_YET.keys()


def _protocols() -> set[str]:
    return {name for _, names in VALUED.values() for name in names} | {name for name, _ in NOT_VALUED_YET}
