"""A drawdown the contract has on record: from the owner's form to the chain, the mirror and the agent's next act."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.execute_change import execute_change
from permits_app.models import ChangeRequest, HighWaterMark, OwnerTransaction
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.state import CageState
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.approvals.safes import make_relayer
from tests.permits_app.caged_golem import FUNDS, USD, CagedGolem
from tests.proof.caged.engines import make_account
from tests.proof.caged.safe import sign_digest
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry, OutboxEvent

TRANSFER = "function transfer(address to, uint256 amount)"


def test_an_acknowledged_drawdown_lets_the_golem_act_again(live_golem: LiveGolem, settings: Any) -> None:
    owner = live_golem.owner
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    caged = CagedGolem(live_golem)
    make_relayer(live_golem, settings)
    engine, contract = caged.safe.engine, caged.mirror.contract

    # 6,000 of 26,000 dollars leave the Safe, more than 13%; anybody may have that put on record.
    usdc = live_golem.world.tokens["USDC"].address
    caged.safe.owner_call(usdc, encode_call(TRANSFER, caged.safe.owners[0].address, 6_000 * USD))
    stranger = make_account("stranger")
    engine.give_coins(stranger.address, 10**21)
    engine._next = max(engine._next, engine._head_time() + 1)
    assert engine.send(stranger, contract, encode_call(FUNCTIONS["recordDrawdown"])).succeeded
    # What left comes back; the record stays.
    live_golem.world.fund(caged.safe.address, 0, FUNDS)
    assert CageState.from_dict(caged.sync().state).is_drawdown_breached
    # It is told once, and the golem was valued at once.
    told = AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="PolicyCageCheck", data__has_key="contract")
    caged.sync()
    assert "noted a fall" in told.get().data["reason"]
    assert OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="policy:violation").count() == 1
    assert HighWaterMark.objects.filter(golem=live_golem.golem).exists()
    with pytest.raises(GolemError, match="DrawdownNotAcknowledged|drawdown"):
        live_golem.preview()

    browser = Client()
    browser.force_login(owner)
    page = reverse("admin:archetypes_app_golem_cage", args=[live_golem.golem.pk])
    assert "A drawdown is on record" in browser.get(page).content.decode()
    form = reverse("admin:archetypes_app_golem_cage_act", args=[live_golem.golem.pk, "acknowledge"])
    assert browser.post(form, {"acknowledge-reason": "a withdrawal of ours"}).status_code == 302
    request = ChangeRequest.objects.get(kind="cage")
    assert (request.title, request.risk_tier) == ("Acknowledge the drawdown on chain", "HIGH")
    asked = OwnerTransaction.objects.get(request=request)
    signature = sign_digest(caged.safe.owners[0], bytes.fromhex(asked.safe_tx_hash[2:])).hex()
    approve(request, owner, signature=signature)
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == "EXECUTED", request.problem

    caged.mirror.refresh_from_db()
    assert not CageState.from_dict(caged.mirror.state).is_drawdown_breached
    assert "A drawdown is on record" not in browser.get(page).content.decode()
    assert live_golem.commit(live_golem.preview()["permit_id"])["status"] == "COMMITTED"
