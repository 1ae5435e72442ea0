"""Valuers of markets and vaults refuse a debt that cannot be judged, and count nothing they were not made for."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.cage_set_up.deployment import build_valuer
from golem_project.embedded.world.accounts import CHAIN_ID, derive_account
from golem_project.embedded.world.rpc import RpcError
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import decode_cage_error, valuer_rule
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import World
from tests.proof.holding_steps import STEPS
from tests.proof.holding_walk import HoldingsWalk
from tools_app.protocols.morpho_blue.addresses import known_markets
from tools_app.toolkit.protocol import SHELF, Valuer

PLACES = "(address,address,address,address)"
KINDS = "(bytes32,address)[]"
PLEDGED: dict[str, tuple[str, ...]] = {
    "morpho": ("morpho_supply_market WETH", "morpho_borrow_market"),
    "maker": ("maker_open_vault", "maker_deposit_collateral", "maker_generate_dai"),
}


def walk_into(world: World, protocol: str) -> HoldingsWalk:
    """An account that has pledged coins there; its last step, which borrows, is still to be taken."""
    walk = HoldingsWalk.begin(world.rpc, f"priceless {protocol}", world.protocols)
    for name in PLEDGED[protocol][:-1]:
        take(walk, name)
    return walk


def take(walk: HoldingsWalk, name: str) -> None:
    found = STEPS[name](walk, 60, 0)
    assert found is not None and walk.act(found), name


def measure(cage: WorldCage) -> Any:
    [measured] = cage.read(cage.cage, FUNCTIONS["measure"])
    return measured


def refusal(cage: WorldCage) -> str | None:
    with pytest.raises(RpcError) as refused:
        measure(cage)
    return decode_cage_error(bytes.fromhex(str(refused.value.data)[2:])).name


def valuer_at(protocol: str) -> tuple[str, Valuer]:
    found = SHELF.get(protocol)
    assert found is not None
    [valuer] = found.valuers
    return str(found.address(CHAIN_ID, valuer.subject)), valuer


@pytest.mark.protocols("morpho", "maker")
@pytest.mark.parametrize("protocol", PLEDGED)
def test_a_debt_in_a_token_without_a_feed_stops_the_cage(local_chain: World, protocol: str) -> None:
    world = local_chain
    walk = walk_into(world, protocol)
    subject, valuer = valuer_at(protocol)
    reader, _ = walk.read()
    made = world.send(world.actors.deployer, None, "0x" + build_valuer(reader, valuer).hex())["contractAddress"]
    account = derive_account(f"priceless {protocol}")
    priced = WorldCage(world, [valuer_rule(subject, made)], account)
    unpriced = WorldCage(world, [valuer_rule(subject, made)], account, symbols=("WETH", "WBTC"), base="WETH")
    at = 1
    assert measure(unpriced)[2][at] == measure(priced)[2][at] > 0
    take(walk, PLEDGED[protocol][-1])
    assert measure(priced)[3][at] > 0
    assert refusal(unpriced) == "ValuerFailed"


@pytest.mark.protocols("maker")
def test_a_vault_of_a_kind_it_was_not_made_for_counts_nothing_and_its_debt_is_refused(local_chain: World) -> None:
    world = local_chain
    walk, account = walk_into(world, "maker"), derive_account("priceless maker")
    places = [world.protocols["maker"][key] for key in ("cdp_manager", "vat", "jug")]
    where = (*places, world.tokens["DAI"].address)
    other = [(b"ETH-C".ljust(32, b"\0"), world.tokens["WETH"].address)]
    made = world.deploy(world.actors.deployer, "CollateralVaultValuer", f"({PLACES},{KINDS})", where, other)
    cage = WorldCage(world, [valuer_rule(places[0], made)], account)
    assert measure(cage)[2][1] == 0
    take(walk, "maker_generate_dai")
    assert refusal(cage) == "ValuerFailed"


@pytest.mark.protocols("morpho")
def test_a_market_it_was_not_made_for_counts_nothing_and_none_is_listed_twice(local_chain: World) -> None:
    world = local_chain
    walk_into(world, "morpho")
    morpho = world.protocols["morpho"]["morpho"]
    ids = [bytes.fromhex(each.id[2:]) for each in known_markets(CHAIN_ID)]
    none = world.deploy(world.actors.deployer, "MarketValuer", "(address,bytes32[])", morpho, ids[1:])
    cage = WorldCage(world, [valuer_rule(morpho, none)], derive_account("priceless morpho"))
    assert measure(cage)[2][1] == 0
    for listed in ([ids[0], ids[0]], [b"\x11" * 32]):
        with pytest.raises(AssertionError, match="reverted"):
            world.deploy(world.actors.deployer, "MarketValuer", "(address,bytes32[])", morpho, listed)
