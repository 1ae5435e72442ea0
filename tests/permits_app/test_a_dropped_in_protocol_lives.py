"""A protocol with debt, a queue and a right of its own, dropped into a folder, through the whole life of one golem."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ChangeRequest, HaltRecord, HaltSetting, OutcomeRecord, PendingRequest
from permits_app.policy_cage.contract import call_key
from permits_app.policy_cage.suggested_rules import call_rules
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device
from tools_app import runner
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.known import list_hints
from tools_app.toolkit.registry import REGISTRY

DAI, USD = 10**18, 10**6
BORROWED = DAI // 10


class Saver:
    """A golem of two owners with every tool of the bank, its agent over REST, and its owner at the admin."""

    def __init__(self, live: LiveGolem, bank: Bank) -> None:
        self.live, self.bank = live, bank
        self.agent = Agent(golem=live.golem, key=live.key, client=Client())
        give_device(live.owner)
        self.co_owner = make_owner_with_device(name="co-owner")
        live.golem.co_owners.add(self.co_owner)

    def carry_out(self, action: str, **params: Any) -> dict[str, Any]:
        """Preview, approval of its owners where one is asked for, commit: the permit as it ended, by what was asked."""
        permit = self.agent.post("preview_action", {"action_type": action, "venue": NAME, **params}).json()
        assert "permit_id" in permit, permit
        if permit["status"] == "AWAITING_APPROVAL":
            request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
            approve(request, self.co_owner)
            execute_change(request_id=request.pk, now=clock.now())
        else:
            self.agent.post("commit_action", {"permit_id": permit["permit_id"]})
        ended: dict[str, Any] = self.agent.get(f"permits/{permit['permit_id']}").json()
        assert ended["status"] == "COMMITTED", ended
        assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified
        return {**ended, "asked_owners": permit["status"] == "AWAITING_APPROVAL", "reviewed": permit["review"]}

    def worth(self) -> int:
        """Micro-USD of everything it has, at the newest block."""
        account = str(self.live.golem.address)
        chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
        hints = list_hints(chain_id=CHAIN_ID, account=account)
        return measure_holdings(chain=chain, account=account, hints=hints).nav_micro_usd

    def page(self) -> str:
        """The golem's page, as its owner sees it."""
        client = Client()
        self.live.owner.is_superuser = True
        self.live.owner.save()
        client.force_login(self.live.owner)
        return client.get(f"/admin/archetypes_app/golem/{self.live.golem.pk}/change/").content.decode()


@pytest.fixture
def saver(transactional_db: None, bank: Bank) -> Iterator[Saver]:
    live = make_live_golem(bank.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        yield Saver(live, bank)
    finally:
        app.conf.task_always_eager = was_eager


def test_a_made_up_protocol_goes_from_its_first_preview_to_the_end_of_a_halt(saver: Saver, bank: Bank) -> None:
    before = saver.worth()
    deposit = saver.carry_out("bank_deposit", amount=str(1_000 * DAI))
    assert not deposit["asked_owners"]
    loan = saver.carry_out("bank_borrow", amount=str(BORROWED))
    assert loan["asked_owners"] and loan["reviewed"]["verdict"] == "APPROVE", loan["reviewed"]
    # A deposit and a loan are no profit and no loss: gas alone is gone.
    assert 0 <= before - saver.worth() < 10 * USD

    rules = {rule.key for rule in call_rules(CHAIN_ID, {bank.address}, valued=None)}
    for name in ("deposit", "borrow", "repay", "request", "claim"):
        assert call_key(bank.address, parse_signature(f"function {name}(uint256)").selector) in rules, name

    page = saver.page()
    for text in ("Account at the bank", "The made-up bank", "0.1 WETH"):
        assert text in page, text

    HaltSetting.objects.create(golem=saver.live.golem, unwind_on_halt=True)
    golem = Golem.objects.get(pk=saver.live.golem.pk)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    assert (bank.read("owed(address)", golem.address), bank.read("deposited(address)", golem.address)) == (0, 0)
    waiting = PendingRequest.objects.get(golem=golem)
    assert waiting.ref.split("/")[1] == "request"
    bank.world.rpc.call("evm_increaseTime", 86_401)
    bank.world.rpc.call("evm_mine")
    held = saver.live.balance("DAI")
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now() + timedelta(days=1, minutes=1))
    assert saver.live.balance("DAI") - held == 1_000 * DAI
    assert HaltRecord.objects.get(golem=golem).completed_at is not None
