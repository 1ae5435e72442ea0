"""V4 pools from the request to the verified outcome: found and traded, their hooks decided about by owners, and hooks
that take something, change their mind, or tell a simulation from a signed transaction.
"""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import AllowlistEntry, ChangeRequest, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.tools_app.protocols.uniswap.v4_hooks import (
    BENIGN,
    FEE_CHANGER,
    HOOKS,
    TELLER,
    THIEF,
    Hook,
    contracts,
    open_hooked_pool,
)
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.standards.permit2 import PERMIT2

pytestmark = pytest.mark.protocols("uniswap_v4")

USDC = 10**6


def ask(live: LiveGolem, **changes: Any) -> dict[str, Any]:
    return live.preview(**{"token_in": "USDC", "token_out": "DAI", "amount": str(100 * USDC), **changes})


def list_hook(live: LiveGolem, hook: Hook) -> None:
    choice = AllowlistChoice(CHAIN_ID, AllowlistKind.HOOK, hook.address, "its owner read it")
    allow_addresses(golem=live.golem, choices=(choice,), actor="system:test", now=clock.now())


def carry_out(live: LiveGolem, permit: dict[str, Any]) -> Any:
    """The owner approves what waits, and it is carried out as far as it goes: the permit's row."""
    give_device(live.owner)
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    approve(request, live.owner)
    execute_change(request_id=request.pk, now=clock.now())
    return live.permit(permit["permit_id"])


def test_a_swap_through_v4_is_previewed_permitted_signed_and_verified(live_golem: LiveGolem) -> None:
    permit = ask(live_golem, route="v4:100")
    assert (permit["status"], permit["risk_tier"]) == ("CREATED", "STANDARD")
    before = live_golem.balance("DAI")
    done = live_golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED"
    assert live_golem.balance("DAI") > before
    assert live_golem.permit(permit["permit_id"]).outcomes.get().is_verified


@pytest.mark.parametrize("missing", ["router", "permit2"])
def test_who_may_not_call_what_v4_needs_trades_through_v3_and_is_told_so_where_v4_is_asked_for(
    live_golem: LiveGolem, missing: str
) -> None:
    address = contracts().router if missing == "router" else PERMIT2
    AllowlistEntry.objects.filter(golem=live_golem.golem, address=address).delete()
    SpendingLimits.objects.filter(golem=live_golem.golem).update(allowlist_mode=AllowlistMode.STRICT)

    with pytest.raises(GolemError) as refused:
        ask(live_golem, route="v4:100")
    assert (refused.value.code, refused.value.data["contract"]) == ("ROUTING_ROUTE_NOT_TAKEN", address)
    assert "owner has to list it" in refused.value.detail
    permit = ask(live_golem)
    bounds = live_golem.permit(permit["permit_id"]).bounds
    assert bounds["details"]["venue"] == "uniswap v3"
    assert not any(name.startswith("v4") for name in bounds["details"]["other_routes"])


def test_a_hook_that_no_owner_listed_is_refused_with_its_name_and_the_next_step(
    live_golem: LiveGolem, local_chain: World
) -> None:
    key = open_hooked_pool(local_chain, BENIGN)
    with pytest.raises(GolemError) as refused:
        ask(live_golem, route=f"v4:{key.pool_id}", slippage_bps=100)
    assert (refused.value.code, refused.value.data["rule"]) == ("SAFETY_HOOK_NOT_ALLOWED", "allowlist_guard.hook")
    assert refused.value.data["not_listed"] == [{"kind": "HOOK", "address": BENIGN.address}]


@pytest.mark.parametrize("name", ["benign", "exit blocker", "exit taxer"])
@pytest.mark.usefixtures("eager")
def test_a_listed_hook_is_traded_with_and_one_that_could_take_something_waits_for_the_owners(
    live_golem: LiveGolem, local_chain: World, name: str
) -> None:
    hook = HOOKS[name]
    key = open_hooked_pool(local_chain, hook)
    list_hook(live_golem, hook)
    permit = ask(live_golem, route=f"v4:{key.pool_id}", slippage_bps=100)
    expected = ("CREATED", "STANDARD") if name == "benign" else ("AWAITING_APPROVAL", "HIGH")
    assert (permit["status"], permit["risk_tier"]) == expected
    if name == "benign":
        assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    else:
        assert carry_out(live_golem, permit).status == "COMMITTED"


@pytest.mark.usefixtures("eager")
def test_a_thief_is_told_by_its_quote_and_refused_by_what_arrives_when_it_begins_after_the_quote(
    live_golem: LiveGolem, local_chain: World
) -> None:
    key = open_hooked_pool(local_chain, THIEF)
    list_hook(live_golem, THIEF)
    with pytest.raises(GolemError) as refused:
        ask(live_golem, route=f"v4:{key.pool_id}", slippage_bps=100)
    assert refused.value.code == "ROUTING_ROUTE_NOT_TAKEN"
    assert int(refused.value.data["amount_out"]) < int(refused.value.data["best_amount_out"]) * 99 // 100
    # Who allows it that much is told what arrives, and gets that.
    SpendingLimits.objects.filter(golem=live_golem.golem).update(max_slippage_bps=300)
    permit = ask(live_golem, route=f"v4:{key.pool_id}", slippage_bps=300)
    promised = int(live_golem.permit(permit["permit_id"]).bounds["receives"][0]["expected"])
    before = live_golem.balance("DAI")
    assert carry_out(live_golem, permit).status == "COMMITTED"
    assert live_golem.balance("DAI") - before == promised


@pytest.mark.usefixtures("eager")
def test_a_fee_that_is_raised_between_preview_and_commit_reverts_and_costs_only_gas(
    live_golem: LiveGolem, local_chain: World
) -> None:
    key = open_hooked_pool(local_chain, FEE_CHANGER)
    list_hook(live_golem, FEE_CHANGER)
    permit = ask(live_golem, route=f"v4:{key.pool_id}", slippage_bps=100)
    local_chain.transact(local_chain.actors.deployer, FEE_CHANGER.address, "setFee(uint24)", 500_000)
    before = live_golem.balance("USDC")
    row = carry_out(live_golem, permit)
    assert row.status != "COMMITTED"
    assert live_golem.balance("USDC") == before


def test_a_halt_takes_back_what_a_plan_gave_through_permit2_and_did_not_use(
    live_golem: LiveGolem, local_chain: World
) -> None:
    # Beside an open permit none is signed: the right is given by a call.
    ask(live_golem, route="v4:100", amount=str(50 * USDC))
    permit = ask(live_golem, route="v4:100")
    account, token = live_golem.golem.address, local_chain.tokens["USDC"].address
    # As where the plan ended after its approvals.
    local_chain.rpc.call("anvil_impersonateAccount", account)
    for call in live_golem.permit(permit["permit_id"]).plan_calls[:-1]:
        sent = {"from": account, "to": call["to"], "data": call["data"], "gas": hex(200_000)}
        assert local_chain.wait(local_chain.rpc.call("eth_sendTransaction", sent))["status"] == "0x1"
    local_chain.rpc.call("anvil_stopImpersonatingAccount", account)

    def left() -> int:
        told = local_chain.rpc.read(
            PERMIT2,
            "allowance(address,address,address)",
            *(account, token, contracts().router),
            returns="(uint160,uint48,uint48)",
        )
        return int(told[0])

    assert left() == 100 * USDC
    told = halt_golem(golem=live_golem.golem, reason="its owner stops it", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=told["epoch"], now=clock.now())
    assert left() == 0


def test_a_hook_that_tells_a_simulation_from_a_signed_transaction_takes_nothing(
    live_golem: LiveGolem, local_chain: World
) -> None:
    key = open_hooked_pool(local_chain, TELLER)
    list_hook(live_golem, TELLER)
    before = live_golem.balance("USDC")
    with pytest.raises(GolemError) as refused:
        ask(live_golem, route=f"v4:{key.pool_id}", slippage_bps=100)
    assert refused.value.code == "SAFETY_SIMULATION_RECOGNISED"
    assert live_golem.balance("USDC") == before
