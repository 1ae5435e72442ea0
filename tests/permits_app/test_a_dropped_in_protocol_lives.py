"""A protocol with debt, a queue and a right of its own, dropped into a folder, through the whole life of one golem."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.cage_set_up.deployment import build_valuer, find_valuers
from golem_project.celery import app
from golem_project.embedded.world.rpc import call_data
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ChangeRequest, HaltRecord, HaltSetting, OutcomeRecord, PendingRequest
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import AssetRule, asset_rules, call_key, valuer_rule
from permits_app.policy_cage.suggested_rules import suggest_rules
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device
from tests.proof.caged.safe import FEED_DECIMALS
from tools_app import runner
from tools_app.chain.abi import checksum
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import NATIVE

DAI, USD = 10**18, 10**6
BORROWED = DAI // 10
CALLS = ("deposit", "borrow", "repay", "request", "claim")
STRANGER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


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

    def suggested(self, valuers: list[str]) -> set[bytes]:
        """Keys of the rules that a new cage of the golem would begin with, given these contracts for its valuers."""
        chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
        there, _ = find_valuers(self.live.golem, chain, valuers, left_out=())
        rules = suggest_rules(
            golem=self.live.golem, chain=chain, high_water_mark_micro_usd=USD, guardian=None, valuers=there
        )
        return {rule.key for rule in rules}

    def make_valuer(self) -> str:
        """The contract that the deployment of a cage asks its owner to create first, for the bank."""
        chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
        _, missing = find_valuers(self.live.golem, chain, [], left_out=())
        world, data = self.bank.world, build_valuer(chain, missing[self.bank.address])
        return checksum(world.send(world.actors.deployer, None, "0x" + data.hex())["contractAddress"])

    def watch(self, valuer: str) -> WorldCage:
        """A cage over the account with the bank's valuer in it."""
        coin = AssetRule(self.bank.world.tokens["WETH"].feed, 3_600, 18, FEED_DECIMALS)
        rules = [*asset_rules(NATIVE, coin, per_batch=1, per_window=1), valuer_rule(self.bank.address, valuer)]
        return WorldCage(self.bank.world, rules, self.live.golem)

    def compare(self, cage: WorldCage) -> tuple[int, int]:
        """What the bank's valuer tells the cage is what the product counts, on one block; what it holds and owes."""
        account = str(self.live.golem.address)
        chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
        holdings = measure_holdings(chain=chain, account=account, hints=list_hints(chain_id=CHAIN_ID, account=account))
        number = chain.block.number
        [measured] = cage.read(cage.cage, FUNCTIONS["measure"], block=number)
        [listed] = cage.read(cage.cage, FUNCTIONS["positions"], block=number)
        at = [checksum(each) for each in listed].index(self.bank.address)
        gross, debt = measured[2][at], measured[3][at]
        mine = [each for each in holdings.positions if each.ref.protocol == NAME]
        parts = sum(len(each.parts) for each in mine)
        assert abs(gross - debt - sum(each.micro_usd or 0 for each in mine)) <= parts
        assert abs(debt - sum(each.debt_micro_usd for each in mine)) <= parts
        assert abs(measured[6] - holdings.nav_micro_usd) <= parts + len(holdings.tokens)
        return gross, debt

    def send(self, signature: str, *args: Any) -> None:
        """The account calls the bank besides everything of ours."""
        rpc, account = self.bank.world.rpc, self.live.golem.address
        rpc.call("anvil_impersonateAccount", account)
        request = {"from": account, "to": self.bank.address, "data": call_data(signature, *args), "gas": hex(200_000)}
        assert self.bank.world.wait(rpc.call("eth_sendTransaction", request))["status"] == "0x1"
        rpc.call("anvil_stopImpersonatingAccount", account)

    def page(self) -> str:
        """The golem's page, as its owner sees it."""
        client = Client()
        self.live.owner.is_superuser = True
        self.live.owner.save()
        client.force_login(self.live.owner)
        return client.get(f"/admin/archetypes_app/golem/{self.live.golem.pk}/money/").content.decode()


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

    # What no valuer counts no cage lets in, so the bank's calls come with the bank's valuer, made as owners make it.
    calls = {call_key(bank.address, parse_signature(f"function {name}(uint256)").selector) for name in CALLS}
    assert not calls & saver.suggested([])
    valuer = saver.make_valuer()
    assert calls | {valuer_rule(bank.address, valuer).key} <= saver.suggested([valuer])

    cage = saver.watch(valuer)
    gross, debt = saver.compare(cage)
    assert gross > 990 * USD and debt > 250 * USD

    page = saver.page()
    for text in ("Account at the bank", "The made-up bank", "0.1 WETH"):
        assert text in page, text

    # The bank's own right, given by hand: the halt takes it back.
    saver.send("setTeller(address,bool)", STRANGER, True)
    assert bank.read("isTeller(address,address)", saver.live.golem.address, STRANGER)

    HaltSetting.objects.create(golem=saver.live.golem, unwind_on_halt=True)
    golem = Golem.objects.get(pk=saver.live.golem.pk)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    assert (bank.read("owed(address)", golem.address), bank.read("deposited(address)", golem.address)) == (0, 0)
    assert not bank.read("isTeller(address,address)", golem.address, STRANGER)
    waiting = PendingRequest.objects.get(golem=golem)
    assert waiting.ref.split("/")[1] == "request"
    # What waits in the queue counts on both sides, and nothing is owed any more.
    assert saver.compare(cage) == (gross, 0)
    bank.world.rpc.call("evm_increaseTime", 86_401)
    bank.world.rpc.call("evm_mine")
    held = saver.live.balance("DAI")
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now() + timedelta(days=1, minutes=1))
    assert saver.live.balance("DAI") - held == 1_000 * DAI
    assert HaltRecord.objects.get(golem=golem).completed_at is not None
