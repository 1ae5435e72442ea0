"""What tests of staking do again and again: stake, report as the oracle, look at what is held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import call_tool, make_context, run_plan
from tools_app.protocols.lido.protocol import PROTOCOL
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.positions import Position, PositionRef, drive

ETH = 10**18
REPORT = "submitReport(uint256,uint256,uint256,uint256,uint256)"


def at(key: str) -> str:
    """One of the local contracts."""
    found = PROTOCOL.address(CHAIN_ID, key)
    assert found is not None
    return found


def list_of(chain: World, account: Any, hints: Sequence[PositionRef] = ()) -> tuple[Position, ...]:
    """What the account has, at the newest block."""
    reader = make_context(chain, address=account.address).chain()
    assert PROTOCOL.positions is not None
    return drive(PROTOCOL.positions.list(CHAIN_ID, account.address, hints), reader.call_many)


def worth(positions: Sequence[Position]) -> int:
    """Wei in all of them."""
    return sum(leg.raw for position in positions for leg in position.legs)


def act(chain: World, account: Any, tool: str, **params: Any) -> PlanOutcome:
    """Plan with a tool and send its calls."""
    plan = call_tool(make_context(chain, address=account.address), tool, **params)
    return run_plan(chain, account, plan)


def report(chain: World, *, earned: int = 0, lost: int = 0, last_id: int = 0, ether: int = 0) -> None:
    """A report of the oracle; `ether` came out of validators for the queue."""
    admin = derive_account("lido deployer")
    chain.rpc.call("anvil_setBalance", admin.address, hex(10**24))
    chain.transact(admin, at("oracle"), REPORT, 0, 86_400, earned, lost, last_id, value=ether)


def as_admin(chain: World, key: str, signature: str, *args: Any) -> None:
    """The protocol's own people do something."""
    admin = derive_account("lido deployer")
    chain.rpc.call("anvil_setBalance", admin.address, hex(10**24))
    chain.transact(admin, at(key), signature, *args)
