"""What a golem signs for others to carry out, from the signature to its end, at a bank whose offers strangers take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.runtime.future_times import mend_future_rows
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signers import choose_signer
from permits_app.limits.ledger import read_usage
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, OutboundTransaction, SignedPromise, SpendEntry, SpendingLimits
from permits_app.models.wallet import WalletKind
from permits_app.safety.load_call_records import read_records
from permits_app.safety.promise_rules import judge_promise
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import FUNDS, LiveGolem, make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tests.permits_app.execution.signers.privy_stand_in import WALLET_ID, PrivyStandIn, serve_privy
from tests.permits_app.safety.calls import live_call, swap_call
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.typed_data import TypedData

DAI = 10**18
FILL = "fill((address,uint256,uint256,uint256,uint256),uint8,bytes32,bytes32)"


@dataclass
class Maker:
    """A golem with 1,000 DAI at the bank, whose agent speaks REST; and everybody who may take its offers."""

    live: LiveGolem
    agent: Agent
    bank: Bank

    def ask(self, tool: str, **body: Any) -> tuple[int, dict[str, Any]]:
        response = self.agent.post(tool, body)
        return response.status_code, response.json()

    def preview(self, **changes: Any) -> tuple[int, dict[str, Any]]:
        """An offer of 100 DAI of the deposit for their worth in WETH."""
        body: dict[str, Any] = {
            "action_type": "bank_offer",
            "venue": NAME,
            "give": str(100 * DAI),
            "want": self.worth(),
        }
        return self.ask("preview_action", **{**body, **changes})

    def offer(self, **changes: Any) -> tuple[SignedPromise, dict[str, Any]]:
        """A committed offer: its row, and what the agent was answered."""
        status, permit = self.preview(**changes)
        assert status == 200, permit
        status, done = self.ask("commit_action", permit_id=permit["permit_id"])
        assert (status, done["status"]) == (200, "COMMITTED"), done
        return SignedPromise.objects.get(permit_id=permit["permit_id"]), done

    def worth(self, give: int = 100 * DAI) -> str:
        return str(give * DAI // self.bank.read("priceOfLoan()"))

    def fill(self, row: SignedPromise) -> str:
        """A stranger takes it, with nothing but what the golem's agent was given."""
        world = self.bank.world
        stranger = world.new_account(10**18, {"WETH": 10**18})
        world.transact(stranger, world.tokens["WETH"].address, "approve(address,uint256)", self.bank.address, 10**18)
        typed, signature = TypedData.of_json(row.typed_data), bytes.fromhex(row.signature[2:])
        order = tuple(typed.message[name] for name, _ in typed.types["Offer"])
        world.transact(stranger, self.bank.address, FILL, order, signature[64], signature[:32], signature[32:64])
        return str(stranger.address)

    def follow(self, row: SignedPromise) -> SignedPromise:
        """Two looks, a minute apart; the chain's time goes on as well."""
        now = clock.now()
        for minutes in (1, 2):
            check_signed_promises(now=now + timedelta(minutes=minutes))
        row.refresh_from_db()
        return row

    def held(self) -> int:
        """What offers hold of the day's limit, micro-USD."""
        usage = read_usage(golem_id=self.live.golem.pk, api_key_id=None, heartbeat_tick=0, now=clock.now())
        return usage.day_micro_usd


@pytest.fixture
def maker(transactional_db: None, bank: Bank) -> Iterator[Maker]:
    live = make_live_golem(bank.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        made = Maker(live, Agent(golem=live.golem, key=live.key, client=Client()), bank)
        status, permit = made.ask("preview_action", action_type="bank_deposit", venue=NAME, amount=str(1_000 * DAI))
        assert status == 200, permit
        assert made.ask("commit_action", permit_id=permit["permit_id"])[1]["status"] == "COMMITTED"
        yield made
    finally:
        bank.modules["tools"].forget()
        app.conf.task_always_eager = was_eager


def entry_of(row: SignedPromise) -> SpendEntry:
    return SpendEntry.objects.get(permit_id=row.permit_id)


def test_an_offer_is_signed_without_a_transaction_and_holds_what_it_gives(maker: Maker) -> None:
    held, sent = maker.held(), OutboundTransaction.objects.count()
    row, done = maker.offer()
    shown = done["result"]["data"]
    assert (shown["signature"], shown["digest"]) == (row.signature, row.digest)
    assert row.digest == "0x" + hash_typed_data(TypedData.of_json(row.typed_data)).hex()
    assert row.gives == [{"token": maker.bank.world.tokens["DAI"].address, "raw": str(100 * DAI)}]
    assert OutboundTransaction.objects.count() == sent
    assert entry_of(row).state == "RESERVED"
    assert abs(maker.held() - held - 100_000_000) < 1_000_000
    _, told = maker.ask("query_state", query="promises")
    assert [each["promise_id"] for each in told["data"]["open"]] == [str(row.pk)]
    assert row.signature not in str(told)
    audited = AuditEntry.objects.filter(golem_id=row.golem_id).values_list("data", flat=True)
    assert row.signature not in str(list(audited))


@pytest.fixture
def privy(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivyStandIn]:
    """The maker's key is at Privy from now on; what it has at the bank it put there with that."""
    with serve_privy() as stand_in:
        monkeypatch.setattr(choose_signer, "_privy", stand_in.client())
        address = stand_in.account.address
        maker.bank.world.fund(address, 10**19, FUNDS)
        choice = WalletChoice(kind=WalletKind.PRIVY, address=address, key=address, external_id=WALLET_ID)
        choose_wallet(golem=maker.live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
        maker.live.golem.refresh_from_db()
        status, permit = maker.ask("preview_action", action_type="bank_deposit", venue=NAME, amount=str(1_000 * DAI))
        assert status == 200, permit
        assert maker.ask("commit_action", permit_id=permit["permit_id"])[1]["status"] == "COMMITTED"
        yield stand_in


def test_an_offer_that_a_key_at_privy_signs_is_taken_by_a_stranger(maker: Maker, privy: PrivyStandIn) -> None:
    row, done = maker.offer()
    assert row.account == privy.account.address and done["result"]["data"]["signature"] == row.signature
    maker.fill(row)
    assert maker.follow(row).state == "FILLED"


def test_another_offer_than_was_permitted_is_kept_by_nobody(maker: Maker, privy: PrivyStandIn) -> None:
    _, permit = maker.preview()
    privy.change = {"want": "1"}
    _, done = maker.ask("commit_action", permit_id=permit["permit_id"])
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    assert (row.status, row.problem["code"]) == ("BLOCKED", "SIGNER_MISMATCH"), done
    assert not SignedPromise.objects.exists()


def test_what_is_promised_is_under_way_for_every_later_decision(maker: Maker) -> None:
    row, _ = maker.offer()
    [seen] = read_records(swap_call(maker.live)).under_way
    assert seen.permit_id == str(row.permit_id)
    assert [change.expected for change in seen.changes] == [-100 * DAI]


def test_offers_that_do_not_fit_the_day_together_are_not_both_signed(maker: Maker) -> None:
    SpendingLimits.objects.filter(golem=maker.live.golem).update(
        per_day_micro_usd=maker.held() + 150_000_000, per_tick_micro_usd=10**12, per_session_micro_usd=10**12
    )
    maker.offer()
    status, problem = maker.preview(give=str(90 * DAI), want=maker.worth(90 * DAI))
    assert (status, problem["code"]) == (403, "SAFETY_SPENDING_LIMIT_EXCEEDED"), problem


def test_a_stranger_fills_an_offer_and_what_it_held_is_spent(maker: Maker) -> None:
    row, _ = maker.offer()
    before = maker.live.balance("WETH")
    stranger = maker.fill(row)
    assert maker.live.balance("WETH") - before == int(maker.worth())
    assert maker.bank.read("deposited(address)", stranger) == 100 * DAI
    assert check_signed_promises(now=clock.now() + timedelta(minutes=1))["ended"] == 0
    assert entry_of(row).state == "RESERVED"
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    assert entry_of(row).settled_micro_usd == entry_of(row).reserved_micro_usd
    assert AuditEntry.objects.filter(golem_id=row.golem_id, event="PromiseFilled").count() == 1
    assert maker.ask("query_state", query="promises")[1]["data"]["open_count"] == 0


def test_an_offer_that_its_agent_takes_back_frees_what_it_held(maker: Maker) -> None:
    held = maker.held()
    row, _ = maker.offer()
    nonce = str(TypedData.of_json(row.typed_data).message["nonce"])
    _, permit = maker.ask("preview_action", action_type="bank_cancel_offer", venue=NAME, nonce=nonce)
    maker.ask("commit_action", permit_id=permit["permit_id"])
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("CANCELLED", "RELEASED")
    assert maker.held() - held < 10_000_000


def test_an_offer_that_nobody_takes_is_held_until_its_time_is_over(maker: Maker) -> None:
    row, _ = maker.offer()
    assert maker.follow(row).state == "OPEN"
    maker.bank.world.rpc.call("evm_increaseTime", 400)
    maker.bank.world.rpc.call("evm_mine")
    now = clock.now() + timedelta(minutes=10)
    assert check_signed_promises(now=now)["ended"] == 0
    assert check_signed_promises(now=now + timedelta(minutes=1))["ended"] == 1
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")


def test_an_end_that_was_seen_in_a_future_that_did_not_come_holds_in_its_time(maker: Maker) -> None:
    row, _ = maker.offer()
    maker.fill(row)
    check_signed_promises(now=clock.now() + timedelta(days=1))
    row.refresh_from_db()
    assert (row.state, row.seen_state) == ("OPEN", "FILLED")
    mend_future_rows(now=clock.now())
    assert check_signed_promises(now=clock.now() + timedelta(minutes=1))["ended"] == 1
    row.refresh_from_db()
    assert row.state == "FILLED"


def test_an_end_that_leaves_the_chain_again_ends_nothing(maker: Maker) -> None:
    rpc = maker.bank.world.rpc
    row, _ = maker.offer()
    snapshot = rpc.call("evm_snapshot")
    maker.fill(row)
    now = clock.now()
    check_signed_promises(now=now + timedelta(minutes=1))
    row.refresh_from_db()
    assert (row.state, row.seen_state) == ("OPEN", "FILLED")
    rpc.call("evm_revert", snapshot)
    assert check_signed_promises(now=now + timedelta(minutes=2))["ended"] == 0
    row.refresh_from_db()
    assert (row.state, row.seen_state) == ("OPEN", "")


def test_a_halt_cancels_every_offer_on_the_chain_and_is_not_done_before(maker: Maker) -> None:
    rows = [maker.offer()[0], maker.offer(give=str(50 * DAI), want=maker.worth(50 * DAI))[0]]
    golem = Golem.objects.get(pk=maker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    assert told["on_chain"]
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED", "CANCELLED"], step
    for row in rows:
        nonce = TypedData.of_json(row.typed_data).message["nonce"]
        assert maker.bank.read("offerState(address,uint256)", row.account, nonce) == 2
        assert maker.follow(row).state == "CANCELLED"


def test_a_halt_between_preview_and_commit_signs_nothing(maker: Maker) -> None:
    _, permit = maker.preview()
    halt_golem(golem=Golem.objects.get(pk=maker.live.golem.pk), reason="test", actor="system:test", now=clock.now())
    status, _ = maker.ask("commit_action", permit_id=permit["permit_id"])
    assert status >= 400 and not SignedPromise.objects.exists()


@pytest.mark.parametrize(("field", "by"), [("give", 10), ("want", 10), ("deadline", 1)])
def test_an_offer_that_says_otherwise_than_its_plan_is_not_signed(maker: Maker, field: str, by: int) -> None:
    maker.bank.modules["tools"].SLIPS[field] = by
    status, problem = maker.preview()
    assert status >= 400 and problem["code"] in ("REVIEW_VETOED", "SAFETY_SIMULATION_FAILED"), problem
    assert not ActionPermit.objects.filter(action_type="bank_offer").exists()


def test_an_offer_far_below_the_feeds_is_not_signed(maker: Maker) -> None:
    status, problem = maker.preview(want=str(int(maker.worth()) * 8 // 10))
    assert status >= 400 and "would bring only" in str(problem), problem


def test_a_promise_is_never_what_only_leaves(maker: Maker) -> None:
    object.__setattr__(REGISTRY.get("bank_offer"), "action_class", ActionClass.DECREASE_POSITION)
    refused = maker.preview()[1]
    assert refused["rule"] == "simulator.promise_class"
    assert refused["limit"] == "NEW_POSITION, INCREASE_POSITION, REBALANCE, READ_ONLY"


def test_typed_data_that_nobody_reads_is_not_signed(maker: Maker) -> None:
    object.__setattr__(SHELF.get(NAME), "promises", None)
    status, problem = maker.preview()
    assert (status >= 400, problem["rule"]) == (True, "simulator.promise_unknown"), problem


@pytest.mark.parametrize(("more", "passes"), [(-1, True), (0, True), (1, False)])
def test_a_promise_lasts_a_week_and_no_second_longer(maker: Maker, more: int, passes: bool) -> None:
    maker.bank.modules["tools"].SLIPS["longer"] = 604_800 - 300 + more
    status, answer = maker.preview()
    assert (status == 200) is passes, answer
    assert passes or answer["rule"] == "simulator.promise_deadline"


def test_each_field_of_what_is_signed_is_read_before_anything_else_is_asked(maker: Maker) -> None:
    """The hook alone: a reviewer reads the same, and comes later."""
    params = {"give": str(100 * DAI), "want": maker.worth()}
    call = live_call(maker.live, "bank_offer", params)
    plan, chain = call.plan, call.chain
    assert plan is not None and plan.promise is not None and plan.deadline is not None and chain is not None
    typed = plan.promise

    def judge(plan: TxPlan, typed: TypedData) -> str:
        refused = judge_promise(call, plan, typed, chain, run=_run_nothing)
        return refused.rule if refused is not None else ""

    assert judge(plan, typed) == ""
    for deadline in (None, plan.deadline - 1, plan.deadline + 1):
        assert judge(replace(plan, deadline=deadline), typed) == "simulator.promise_deadline", deadline
    unread = "simulator.promise_unknown"
    assert judge(plan, replace(typed, domain={**typed.domain, "unheard": "of"})) == unread
    assert judge(plan, replace(typed, message={**typed.message, "unheard": 1})) == unread
    assert judge(plan, replace(typed, types={**typed.types, "Permit": ()})) == "simulator.promise_permit"


def _run_nothing(request: SimulationRequest) -> SimulationResult:
    raise AssertionError("a key that signs for itself is not asked in a simulation")


def test_a_signature_is_of_the_permits_own_bytes_or_of_nothing(maker: Maker) -> None:
    _, permit = maker.preview()
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    bounds = {**row.bounds, "promise": {**row.bounds["promise"]}}
    bounds["promise"]["message"] = {**bounds["promise"]["message"], "give": str(900 * DAI)}
    ActionPermit.objects.filter(pk=row.pk).update(bounds=bounds)
    maker.ask("commit_action", permit_id=permit["permit_id"])
    row.refresh_from_db()
    assert (row.status, row.problem["code"]) == ("BLOCKED", "PLAN_HASH_MISMATCH")
    assert not SignedPromise.objects.exists()


def test_an_owner_sees_what_may_go_and_never_the_signature(maker: Maker) -> None:
    row, _ = maker.offer()
    client = Client()
    maker.live.owner.is_superuser = True
    maker.live.owner.save()
    client.force_login(maker.live.owner)
    page = client.get(f"/admin/permits_app/signedpromise/{row.pk}/change/").content.decode()
    assert "100 DAI" in page and row.signature not in page
    golem_page = f"/admin/archetypes_app/golem/{row.golem_id}/money/"
    listed = client.get(golem_page).content.decode()
    assert 'id="promises"' in listed and "100 DAI" in listed and row.signature not in listed
    maker.fill(row)
    maker.follow(row)
    assert 'id="promises"' not in client.get(golem_page).content.decode()
