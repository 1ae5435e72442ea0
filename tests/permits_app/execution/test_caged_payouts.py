"""A golem behind a cage pays whom its owner registered, through the cage's own door, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from permits_app.custody.signing_route import carries_its_batch
from permits_app.errors import CageWouldRefuse
from permits_app.models import AllowlistEntry, OutboundTransaction
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import (
    Refill,
    RuleKind,
    encode_propose,
    payout_key,
    payout_rule,
    recipient_rule,
)
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import LOSSES, CageState
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import USD, CagedGolem
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock


@pytest.fixture
def payee(live_golem: LiveGolem) -> str:
    """Somebody the owner registered before the cage was made."""
    address: str = live_golem.world.new_account().address
    AllowlistEntry.objects.create(
        golem=live_golem.golem, chain_id=31337, kind=AllowlistKind.RECIPIENT, address=address, label="wages"
    )
    return address


@pytest.fixture
def caged(live_golem: LiveGolem, payee: str) -> CagedGolem:
    return CagedGolem(live_golem)


def preview_payment(caged: CagedGolem, payee: str, dollars: int) -> dict[str, Any]:
    changes = dict.fromkeys(("venue", "token_in", "token_out"))
    wanted = {"token": "USDC", "recipient": payee, "amount": str(dollars * USD)}
    return caged.live.preview(**changes, action_type="transfer", **wanted)


def held(caged: CagedGolem, account: str) -> int:
    token = caged.world.tokens["USDC"].address
    answer = caged.world.rpc.read(token, "balanceOf(address)", account, returns="(uint256)")
    return int(answer[0] if isinstance(answer, list | tuple) else answer)


def test_a_new_cage_lets_the_golem_pay_whom_its_owner_registered(caged: CagedGolem, payee: str) -> None:
    state = CageState.from_dict(caged.mirror.state)
    usdc = caged.world.tokens["USDC"].address
    assert state.rule(RuleKind.RECIPIENT, bytes(32)) == int(payee, 16)
    right = Refill.unpack(state.rule(RuleKind.PAYOUT, payout_key(0, 0, usdc)))
    assert right == Refill(right.most, right.most, 86_400)
    assert right.most == state.rule(RuleKind.OUTFLOW_PER_WINDOW, bytes.fromhex(usdc[2:].rjust(64, "0")))


def test_a_payment_to_a_registered_recipient_goes_through_the_cages_own_door(
    caged: CagedGolem, payee: str, admin_client: Client
) -> None:
    before = caged.balance("USDC")
    answer = preview_payment(caged, payee, 100)
    done = caged.live.commit(answer["permit_id"])
    assert done["status"] == "COMMITTED", done["problem"]
    assert before - caged.balance("USDC") == held(caged, payee) == 100 * USD
    [row] = OutboundTransaction.objects.filter(permit_id=answer["permit_id"])
    assert row.to == caged.mirror.contract
    permit = caged.live.permit(answer["permit_id"])
    assert permit.calls[0]["data"].startswith("0x" + parse_signature(FUNCTIONS["payOut"]).selector.hex())
    assert carries_its_batch(permit)
    page = admin_client.get(f"/admin/permits_app/actionpermit/{permit.pk}/change/").content.decode()
    assert "unknown function" not in page and payee in page
    state = CageState.from_dict(caged.sync().state)
    usdc = caged.world.tokens["USDC"].address
    assert state.used(RuleKind.PAYOUT, payout_key(0, 0, usdc), now=int(clock.now().timestamp())) == 100 * USD
    assert state.windows.get(LOSSES) is None
    assert (state.session.operations_left, state.session.budget_left) == (19, 39_900 * USD)


def test_a_payment_beyond_what_may_be_paid_is_refused_in_the_preview(caged: CagedGolem, payee: str) -> None:
    usdc = caged.world.tokens["USDC"].address
    caged.safe.owner_call(caged.mirror.contract, encode_propose([payout_rule(0, 0, usdc, Refill(50 * USD))]))
    caged.sync()
    with pytest.raises(CageWouldRefuse) as refused:
        preview_payment(caged, payee, 51)
    assert refused.value.data["error"] == "AllowanceUsedUp"
    assert caged.live.commit(preview_payment(caged, payee, 50)["permit_id"])["status"] == "COMMITTED"


def test_a_recipient_struck_off_on_chain_is_not_paid_by_a_permit_from_before(caged: CagedGolem, payee: str) -> None:
    answer = preview_payment(caged, payee, 100)
    caged.safe.owner_call(caged.mirror.contract, encode_propose([recipient_rule(0, ZERO_ADDRESS)]))
    caged.sync()
    assert caged.live.commit(answer["permit_id"])["status"] == "BLOCKED"
    assert held(caged, payee) == 0
    # A transfer is no call that the batch may make.
    with pytest.raises(CageWouldRefuse) as refused:
        preview_payment(caged, payee, 100)
    assert refused.value.data["error"] == "CallNotAllowed"
