"""The contracts that value positions for cages say what the product's one net asset value says, on the same blocks."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import pytest

from golem_project.cage_set_up.deployment import build_valuer
from golem_project.embedded.world.accounts import CHAIN_ID, derive_account
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import AssetRule, asset_rules, valuer_rule
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import World
from tests.proof.caged.safe import FEED_DECIMALS
from tests.proof.holding_steps import SAID, STEPS, WALKS
from tests.proof.holding_walk import HoldingsWalk
from tests.proof.holdings import ACTS, PAUSES, SHARES, WORLDS
from tests.tools_app.protocols.uniswap.test_liquidity import ETH, open_position
from tools_app.chain.abi import checksum
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import Holdings
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE

VAULT: Final = "erc4626"
IN_AND_OUT: Final = frozenset({"vault_deposit", "vault_withdraw"})
"""Of the one vault that is counted here among those of its folder."""
PROTOCOLS: Final = (VAULT, *(each for each in WORLDS if each not in WALKS))
VALUED: Final = tuple(
    each for each in WALKS if each != VAULT and (found := SHELF.get(each)) is not None and found.valuers
)
"""Those with a walk of their own that a cage can count; why it cannot count the others has its own test."""
BY_KIND: Final = {"uniswap": "nft"}
"""Kinds of positions that a protocol's valuer counts, where it does not count them all."""
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
STAKE_AND_PLEDGE = (
    "lido_stake stETH",
    "lido_stake wstETH",
    "rocketpool_stake",
    "maker_open_vault",
    "maker_deposit_collateral",
    "maker_generate_dai",
    "morpho_supply_market WETH",
    "morpho_supply_market USDC",
    "morpho_borrow_market",
    "lido_unstake stETH",
    "lido_unstake wstETH",
    "lido_unwrap",
    "morpho_repay_market",
    "morpho_withdraw_market lent",
    "rocketpool_unstake",
)


@dataclass
class BothSides:
    """One account, walked by the product's tools and watched by a cage with every valuer there is."""

    walk: HoldingsWalk
    cage: WorldCage
    targets: dict[str, str]
    """Protocol -> the contract that stands for it in the cage."""

    def compare(self) -> Holdings:
        """Each protocol's positions and the whole of the account, at one block."""
        reader, holdings = self.walk.read()
        signature = FUNCTIONS["measure"]
        [measured] = self.cage.read(self.cage.cage, signature, block=reader.block.number)
        listed = self.cage.read(self.cage.cage, FUNCTIONS["positions"], block=reader.block.number)[0]
        places = [address.lower() for address in listed]
        legs = 0
        for protocol, target in self.targets.items():
            kind = BY_KIND.get(protocol)
            mine = [
                each
                for each in holdings.positions
                if each.ref.protocol == protocol and (kind is None or each.ref.kind == kind)
            ]
            at = places.index(target.lower())
            told, debt = measured[2][at] - measured[3][at], measured[3][at]
            parts = sum(len(each.parts) for each in mine)
            assert all(each.micro_usd is not None for each in mine), f"{protocol} is not told whole"
            assert abs(told - sum(each.micro_usd or 0 for each in mine)) <= parts, protocol
            assert abs(debt - sum(each.debt_micro_usd for each in mine)) <= parts, protocol
            legs += parts
            health = min((each.position.health_bps for each in mine if each.position.health_bps is not None), default=0)
            if debt:
                assert abs(measured[7][at] * BPS // debt - health) <= 1 + health // 10_000, protocol
        for asset, exposure in zip(*self._exposures(measured, reader.block.number), strict=True):
            held = [leg.raw for each in holdings.positions for leg in each.position.legs if leg.token == asset]
            wallet = self.cage.read(self.cage.cage, FUNCTIONS["balanceOf"], asset, block=reader.block.number)[0]
            assert abs(exposure - wallet - sum(held)) <= 2 * len(held), asset
        assert abs(measured[6] - holdings.nav_micro_usd) <= legs + len(holdings.tokens)
        return holdings

    def _exposures(self, measured: Any, block: int) -> tuple[list[str], list[int]]:
        [assets] = self.cage.read(self.cage.cage, FUNCTIONS["assets"], block=block)
        return [checksum(asset) for asset in assets], list(measured[8])

    def walk_through(self, names: tuple[str, ...]) -> set[str]:
        """Take these steps, comparing after each; returns the protocols where something was held."""
        seen: set[str] = set()
        for name in names:
            found = STEPS[name](self.walk, 60, 0)
            assert found is not None and self.walk.act(found), name
            seen |= {each.ref.protocol for each in self.compare().positions}
        return seen


def open_both(world: World, names: Collection[str]) -> BothSides:
    """A cage counts positions at eight places at most, fewer than there are: Uniswap and one of each named protocol."""
    account = derive_account("both sides")
    walk = HoldingsWalk.begin(world.rpc, "both sides", world.protocols)
    reader, _ = walk.read()
    rules = asset_rules(
        NATIVE, AssetRule(world.tokens["WETH"].feed, 3_600, 18, FEED_DECIMALS), per_batch=1, per_window=1
    )
    targets = {"uniswap": world.contracts["uniswap_v3_position_manager"]}
    for subject, valuer in SHELF.valuers_on(CHAIN_ID):
        protocol = SHELF.of_contract(CHAIN_ID, subject)
        assert protocol is not None
        # Of a protocol with several places one is counted: room is scarce, and each place's valuer is of one code.
        if valuer.code == "V3PositionValuer" or protocol.name not in names or protocol.name in targets:
            continue
        made = world.send(world.actors.deployer, None, "0x" + build_valuer(reader, valuer).hex())["contractAddress"]
        rules.append(valuer_rule(subject, made))
        targets[protocol.name] = subject
    assert targets.keys() == {"uniswap", *names}
    return BothSides(walk, WorldCage(world, rules, account), targets)


@pytest.fixture
def both(local_chain: World) -> BothSides:
    return open_both(local_chain, PROTOCOLS)


@pytest.mark.protocols(*PROTOCOLS)
def test_after_every_step_contracts_and_product_tell_one_value(both: BothSides) -> None:
    both.compare()
    open_position(both.cage.world, both.cage.maker)
    open_position(both.cage.world, both.cage.maker, price_lower="3100", price_upper="3600")
    assert len(both.compare().positions) == 2
    assert both.walk_through(LEND_AND_SHARE) >= {"aave_v3", "spark", "erc4626"}
    # Interest that no transaction wrote down yet, and fees that somebody paid.
    both.walk.pass_time(1_800)
    assert both.compare().debt_micro_usd > 0


@pytest.mark.protocols(*PROTOCOLS)
def test_what_is_staked_pledged_and_waits_in_a_queue_has_one_value_too(both: BothSides) -> None:
    assert both.walk_through(STAKE_AND_PLEDGE) == {"lido", "rocketpool", "maker", "morpho"}
    both.walk.pass_time(1_800)
    assert both.compare().debt_micro_usd > 0
    # A final place in the queue is worth what can be claimed.
    both.walk.finalize()
    both.compare()
    assert both.walk_through(("lido_claim_withdrawal",))


@pytest.mark.protocols(*PROTOCOLS)
@pytest.mark.parametrize("seed", [1, 2])
def test_in_any_order_of_steps_contracts_and_product_tell_one_value(both: BothSides, seed: int) -> None:
    chance, names = random.Random(seed), sorted(STEPS.keys() - SAID.keys() | IN_AND_OUT)
    seen, taken = set(), 0
    for _ in range(8 * ACTS):
        found = STEPS[chance.choice(names)](both.walk, chance.choice(SHARES), chance.randrange(8))
        if found is not None and both.walk.act(found):
            taken += 1
            seen |= {each.ref.protocol for each in both.compare().positions}
        if chance.random() < 0.1:
            both.walk.pass_time(chance.choice(PAUSES[:2]))
        if taken >= ACTS:
            break
    assert taken == ACTS and len(seen) > 4, seen


@pytest.mark.protocols(*VALUED)
def test_what_protocols_say_of_their_own_ways_in_and_out_has_one_value_too(local_chain: World) -> None:
    rest = open_both(local_chain, VALUED)
    said = tuple(name for name in SAID if name.startswith(VALUED))
    assert rest.walk_through((*said, *said)) == set(VALUED)
    rest.walk.pass_time(1_800)
    rest.compare()


@pytest.mark.protocols(*PROTOCOLS)
def test_a_pushed_pool_and_a_fallen_feed_leave_both_at_one_value(both: BothSides) -> None:
    world = both.cage.world
    open_position(world, both.cage.maker)
    both.walk_through((*LEND_AND_SHARE[:7], *STAKE_AND_PLEDGE[:9]))
    trader, usdc, weth = world.new_account(ETH, {"USDC": 10**12}), world.tokens["USDC"], world.tokens["WETH"]
    router = world.contracts["uniswap_v3_swap_router_02"]
    world.transact(trader, usdc.address, "approve(address,uint256)", router, 10**12)
    swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    world.transact(trader, router, swap, (usdc.address, weth.address, 500, trader.address, 10**12, 0, 0))
    before = both.compare().nav_micro_usd
    world.transact(world.actors.deployer, weth.feed, "setAnswer(int256)", 2_800 * 10**8)
    assert both.compare().nav_micro_usd < before


def test_every_place_where_something_may_be_held_is_valued_by_a_contract() -> None:
    subjects = {subject for subject, _ in SHELF.valuers_on(CHAIN_ID)}
    valued = SHELF.valued_on(CHAIN_ID)
    assert set(valued.values()) - {""} <= subjects
    assert {place for place, subject in valued.items() if not subject} == set(SHELF.uncaged_on(CHAIN_ID))
    assert {protocol.name for protocol in SHELF if protocol.valuers} >= {"uniswap", *PROTOCOLS, *VALUED}
