"""A vault by request that keeps a list of those who may ask, and what becomes of an account that is taken off it."""

from __future__ import annotations

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context, run_plan
from tests.tools_app.protocols.erc4626.people import open_listed
from tests.tools_app.protocols.measured import Golem
from tools_app.core.errors import Recovery
from tools_app.protocols.erc4626.protocol import PROTOCOL
from tools_app.standards.erc4626 import VaultFamily
from tools_app.standards.erc7540 import VaultsWithRequests
from tools_app.standards.erc7540_plans import NotAdmitted, RequestPlans
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Stuck, drive

pytestmark = pytest.mark.protocols("erc4626")
USDC = 10**6


@pytest.fixture
def golem(chain: World) -> Golem:
    return Golem(chain, PROTOCOL, chain.new_account(10**18, {"USDC": 10_000 * USDC}))


def test_who_is_taken_off_a_vaults_list_is_refused_before_any_call_and_told_as_stuck(golem: Golem) -> None:
    chain, me = golem.chain, golem.address
    maker = chain.new_account(10**18, {"USDC": 1_000 * USDC})
    vault, plans = open_listed(chain, maker), RequestPlans(VaultFamily("erc4626"))

    def reader() -> ChainReader:
        return make_context(chain, address=me).chain()

    with pytest.raises(NotAdmitted) as refused:
        plans.plan_ask_in(reader(), me, vault, USDC)
    assert refused.value.next_step is Recovery.GIVE_UP
    chain.transact(maker, vault.address, "addToWhitelist(address[])", [me])
    run_plan(chain, golem.account, plans.plan_ask_in(reader(), me, vault, 1_000 * USDC))
    for call in ("updateNewTotalAssets(uint256)", "settleDeposit(uint256)"):
        chain.transact(maker, vault.address, call, 0)
    chain.transact(maker, vault.address, "revokeFromWhitelist(address[])", [me])
    # What was settled is its own all the same, and what it then holds is let out by those who run the vault alone.
    run_plan(chain, golem.account, plans.plan_claim_in(reader(), me, vault))
    with pytest.raises(NotAdmitted) as kept:
        plans.plan_ask_out(reader(), me, vault, None)
    assert kept.value.next_step is Recovery.ASK_OWNER
    listed = VaultsWithRequests(VaultFamily("erc4626"), lambda chain_id: (vault,))
    (held,) = drive(listed.list(CHAIN_ID, me, ()), reader().call_many)
    assert held.raw_of(vault.asset) == 1_000 * USDC and PROTOCOL.exits is not None
    barred = PROTOCOL.exits.next_step(held, {}, 0)
    assert isinstance(barred, Stuck) and "off its list" in barred.reason
