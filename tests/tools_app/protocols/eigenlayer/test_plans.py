"""The plans of EigenLayer carried out call by call, and read back from their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tools_app.protocols.eigenlayer import plans
from tools_app.protocols.eigenlayer.addresses import deployments
from tools_app.protocols.eigenlayer.effects import EFFECTS
from tools_app.protocols.eigenlayer.reads import Restaked, ask_restaked
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import drive

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

pytestmark = pytest.mark.protocols("eigenlayer")
AT = dict(deployments(CHAIN_ID) or {})
DAI = 1_000 * 10**18
DELAY = 50


def restaked(chain: World, account: LocalAccount) -> Restaked:
    reader = make_context(chain, address=account.address).chain()
    return drive(ask_restaked(AT, account.address), reader.call_many)


def carry_out(chain: World, account: LocalAccount, plan: TxPlan) -> Effects:
    """What the bytes of its calls to EigenLayer say, read before each is sent."""
    into = Effects()
    for call in plan.calls:
        if call.to in AT.values():
            reader = make_context(chain, address=account.address).chain()
            EFFECTS.read(call, earlier=(), account=account.address, chain=reader, into=into)
        receipt = chain.send(account, call.to, "0x" + call.data.hex(), value=call.value)
        assert receipt["status"] == "0x1", call
    return into


def test_a_life_of_deposit_delegation_exit_and_completion_gives_everything_back(chain: World) -> None:
    account = chain.new_account(10**18, {"DAI": DAI})
    operator = derive_account("eigenlayer operator").address
    reader = make_context(chain, address=account.address).chain()
    dai = reader.token(chain.tokens["DAI"].address)
    deposit = plans.plan_deposit(reader, account.address, AT, AT["strategy_dai"], dai, DAI)
    assert carry_out(chain, account, deposit).spends[dai.address] == DAI
    delegate = plans.plan_delegate(CHAIN_ID, account.address, AT, operator)
    assert tuple(carry_out(chain, account, delegate).statements) == delegate.statements
    assert restaked(chain, account).operator == operator
    (held,) = restaked(chain, account).deposits
    queue = plans.plan_queue(CHAIN_ID, account.address, AT, [(held, held.deposited // 2)])
    assert [one.kind for one in carry_out(chain, account, queue).changes] == [one.kind for one in queue.changes]
    found = restaked(chain, account)
    leave = plans.plan_leave_operator(CHAIN_ID, account.address, AT, found.deposits)
    assert tuple(carry_out(chain, account, leave).statements) == leave.statements
    chain.rpc.call("anvil_mine", hex(DELAY + 1))
    found = restaked(chain, account)
    assert found.operator is None and not found.deposits and len(found.waiting) == 2
    for waiting in found.waiting:
        carry_out(chain, account, plans.plan_complete(CHAIN_ID, account.address, AT, waiting, {dai.address: dai}))
    (balance,) = chain.rpc.read(dai.address, "balanceOf(address)", account.address, returns="(uint256)")
    assert balance in range(DAI - 4, DAI + 1)
    assert restaked(chain, account) == Restaked(None, (), (), DELAY, 0)
