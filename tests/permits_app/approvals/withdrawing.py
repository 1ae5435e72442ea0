"""Withdrawals by owners, for tests: what is registered, asked for, approved and carried out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from archetypes_app.models import Golem
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation
from permits_app.models import ChangeRequest, WithdrawalAddress
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve
from tools_app.core import clock

HOME = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
STRANGER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
Two = tuple[LiveGolem, Any, Any]


def register(golem: Golem, address: str = HOME) -> WithdrawalAddress:
    return WithdrawalAddress.objects.create(
        golem=golem, chain_id=CHAIN_ID, address=address, label="Cold wallet", registered_at=clock.now()
    )


def ask(live: LiveGolem, owner: Any, **changes: Any) -> ChangeRequest:
    arguments = {"chain_id": CHAIN_ID, "to": HOME, "token": "USDC", "amount": "1,500.25", **changes}
    return request_operation(
        golem=live.golem, name="withdraw", arguments=arguments, owner=owner, reason="rent", now=clock.now()
    )


def run(request: ChangeRequest, *, after: timedelta = timedelta()) -> ChangeRequest:
    execute_change(request_id=request.pk, now=clock.now() + after)
    request.refresh_from_db()
    return request


def held(live: LiveGolem, account: str, symbol: str = "USDC") -> int:
    token = live.world.tokens[symbol].address
    return int(live.world.rpc.read(token, "balanceOf(address)", account, returns="(uint256)")[0])


def coin(live: LiveGolem, account: str) -> int:
    return int(live.world.rpc.call("eth_getBalance", account, "latest"), 16)


def approved(two: Two, **changes: Any) -> ChangeRequest:
    live, owner, other = two
    if not WithdrawalAddress.objects.exists():
        register(live.golem)
    request = approve(ask(live, owner, **changes), other)
    request.refresh_from_db()
    return request
