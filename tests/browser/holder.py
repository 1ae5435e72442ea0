"""A golem with a loan, a share of a vault and a place in a queue on the local chain, all got by its own permits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.execute_change import execute_change
from permits_app.models import ChangeRequest, NavSnapshot, PendingRequest
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tools_app.core import clock
from tools_app.protocols.erc4626.addresses import known_vaults
from tools_app.toolkit.registry import REGISTRY

ETH, USDC = 10**18, 10**6
PROTOCOLS = ("aave_v3", "lido", "erc4626")
_PREFIXES = ("aave_", "lido_", "vault_")


def do(live: LiveGolem, action: str, venue: str | None, **params: Any) -> dict[str, Any]:
    """Preview and commit one action; its permit. A day's worth of limits must cover all of them."""
    clean = dict.fromkeys(("token_in", "token_out", "amount"))
    permit = live.preview(**{**clean, "action_type": action, "venue": venue, **params})
    if permit["status"] == "AWAITING_APPROVAL":
        return _agree(live, permit["permit_id"])
    done = live.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    return done


def _agree(live: LiveGolem, permit_id: str) -> dict[str, Any]:
    """What is risky is carried out once its owner agreed."""
    if not TOTPDevice.objects.filter(user=live.owner, confirmed=True).exists():
        give_device(live.owner)
    request = ChangeRequest.objects.get(permit__pk=permit_id)
    approve(request, live.owner)
    execute_change(request_id=request.pk, now=clock.now())
    permit = live.permit(permit_id)
    assert permit.status == "COMMITTED", (permit.status, permit.status_reason)
    return {"permit_id": permit_id}


def give_tools(live: LiveGolem) -> None:
    """The tools of the three protocols."""
    for tool in REGISTRY:
        if tool.name.startswith(_PREFIXES):
            ToolOverride.objects.get_or_create(
                golem=live.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
            )


def borrow(live: LiveGolem) -> dict[str, Any]:
    """A loan of 900 USDC on one WETH; the borrowing permit."""
    do(live, "supply", None, asset="WETH", amount=str(ETH))
    return do(live, "borrow", None, asset="USDC", amount=str(900 * USDC))


def hold_everything(live: LiveGolem) -> dict[str, Any]:
    """The loan, 1,000 USDC in a vault, and one ether in the queue that is looked at once."""
    give_tools(live)
    borrowed = borrow(live)
    do(live, "deposit", "erc4626", vault=known_vaults(31337)[0].address, amount=str(1_000 * USDC))
    do(live, "stake", "lido", amount=str(2 * ETH), output_token="stETH")
    do(live, "unstake", "lido", amounts=[str(ETH)])
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now())
    return borrowed


def look_twice(live: LiveGolem) -> None:
    """Two ticks of its heartbeat with a quarter of an hour between, so that its value has a change."""
    turn_on(live.golem, is_live=False, rule={})
    tick(live.golem)
    NavSnapshot.objects.filter(golem=live.golem).update(at=clock.now() - timedelta(minutes=15))
    live.world.rpc.call("evm_mine")
    tick(live.golem)
    assert NavSnapshot.objects.filter(golem=live.golem).count() == 2
