"""A vault of a kind that is not served, given to a golem with a few cents in it, switches nothing off."""

from __future__ import annotations

import pytest

from tests.adversary.test_strangers import MOST
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.permits_app.tools.test_wallet import read
from tools_app.protocols.maker_sky.addresses import deployments

DAI = 10**18


def give_vault(live: LiveGolem, kind: str, *, dai: int) -> str:
    """The id of a new vault of the golem, with DAI that anybody may put into it."""
    world, place = live.world, deployments(CHAIN_ID) or {}
    stranger = world.new_account(DAI, {"DAI": dai})
    manager, word = place["cdp_manager"], kind.encode().ljust(32, b"\0")
    world.transact(stranger, manager, "open(bytes32,address)", word, live.golem.address)
    vault = world.rpc.read(manager, "last(address)", live.golem.address, returns="(uint256)")[0]
    (urn,) = world.rpc.read(manager, "urns(uint256)", vault, returns="(address)")
    world.transact(stranger, world.tokens["DAI"].address, "approve(address,uint256)", place["join_dai"], MOST)
    world.transact(stranger, place["join_dai"], "join(address,uint256)", urn, dai)
    return str(vault)


@pytest.mark.protocols("maker")
def test_a_vault_of_another_kind_with_some_cents_in_it_stops_no_golem(live_golem: LiveGolem) -> None:
    vault = give_vault(live_golem, "ODD-A", dai=DAI // 5)
    asked = live_golem.preview()
    assert live_golem.commit(asked["permit_id"])["status"] == "COMMITTED"
    turn_on(live_golem.golem)
    assert len(tick(live_golem.golem).probes["positions"]) == 1, "it keeps its range"
    status = read(live_golem, "wallet_get_status")
    assert [each for each in status["not_counted"] if f"Maker vault {vault}" in each], status
