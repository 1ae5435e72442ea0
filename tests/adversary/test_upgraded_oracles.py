"""Whoever decides health and interest and is only read: another one at the commit is not signed for."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.models import ActionPermit
from tests.adversary.test_upgrades import code_of, put
from tests.golem_project.heartbeat.loans import ETH, USD, carry_out, include, lend_out, plan
from tests.live_golem import LiveGolem
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.morpho_blue.golem import usdc_market
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.toolkit.positions import Position

pytestmark = pytest.mark.protocols("aave_v3", "morpho", "maker")
OTHERS = dict.fromkeys(("token_in", "token_out", "amount"))


def held_at(live: LiveGolem, protocol: str) -> Position:
    chain = make_context(live.world).chain()
    found = [each for each in read_positions(chain=chain, account=live.golem.address) if each.ref.protocol == protocol]
    (position,) = found
    return position


def borrow_at(live: LiveGolem, protocol: str) -> dict[str, Any]:
    """A debt there, and the action that repays a part of it."""
    if protocol == "aave_v3":
        include(live, "aave_repay")
        lend_out(live)
        return {"action_type": "repay", "venue": "aave", "asset": "USDC", "amount": str(500 * USD)}
    if protocol == "morpho":
        include(live, "morpho_repay_market")
        market = {"market_id": usdc_market()}
        carry_out(
            live, plan(live, "morpho_borrow_market", **market, amount=str(1_000 * USD), collateral_amount=str(ETH))
        )
        return {"action_type": "repay", "venue": "morpho", **market, "amount": str(500 * USD)}
    include(live, "maker_repay_dai")
    carry_out(live, plan(live, "maker_open_vault", collateral_type="ETH-A"))
    vaults = live.world.protocols["maker"]["cdp_manager"]
    vault = str(live.world.rpc.read(vaults, "last(address)", live.golem.address, returns="(uint256)")[0])
    carry_out(live, plan(live, "maker_deposit_collateral", vault_id=vault, amount=str(ETH)))
    carry_out(live, plan(live, "maker_generate_dai", vault_id=vault, dai_amount=str(1_000 * ETH)))
    return {"action_type": "repay_dai", "venue": "maker", "vault_id": vault, "dai_amount": str(200 * ETH)}


@pytest.mark.parametrize(("protocol", "least"), [("aave_v3", 4), ("morpho", 2), ("maker", 3)])
def test_an_oracle_or_rate_model_that_is_another_one_is_not_signed_for(
    live_golem: LiveGolem, protocol: str, least: int
) -> None:
    world, asked = live_golem.world, borrow_at(live_golem, protocol)
    relied = sorted(held_at(live_golem, protocol).relies_on)
    assert len(relied) >= least, relied
    for each in relied:
        code = code_of(world, each)
        permit = live_golem.preview(**{**OTHERS, **asked})
        row = ActionPermit.objects.get(pk=permit["permit_id"])
        # The node's engine alone ran: it tells no call tree.
        assert row.code["ran"] == [] and each in row.code["codes"]
        put(world, each, code + "00")
        ended = live_golem.commit(permit["permit_id"])
        assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "CODE_CHANGED"), (each, ended)
        put(world, each, code)
    permit = live_golem.preview(**{**OTHERS, **asked})
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"


def test_a_price_from_elsewhere_than_at_the_preview_is_not_signed_for(live_golem: LiveGolem) -> None:
    world, asked = live_golem.world, borrow_at(live_golem, "aave_v3")
    permit = live_golem.preview(**{**OTHERS, **asked})
    where = world.protocols["aave_v3"]
    weth, somebody = world.tokens["WETH"], world.new_account(ETH)
    other = world.deploy(somebody, "SimulatedFeed", "(string,uint8,int256)", "WETH", 8, 3_000 * 10**8)
    provider = world.rpc.read(where["oracle"], "ADDRESSES_PROVIDER()", returns="(address)")[0]
    acl = world.rpc.read(provider, "getACLManager()", returns="(address)")[0]
    world.rpc.call("anvil_setCode", acl, "0x600160005260206000f3")
    # Whoever asks is an administrator there now.
    world.transact(somebody, where["oracle"], "setAssetSources(address[],address[])", [weth.address], [other])
    ended = live_golem.commit(permit["permit_id"])
    assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "CODE_CHANGED"), ended
    assert ended["problem"]["what"] == "oracle or rate model"
