"""One row of every model an owner may see, for the tables of the admin tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import (
    AlertBatch,
    Artifact,
    CodingWorkspace,
    DecisionCycleRecord,
    DefinitionApproval,
    Golem,
    Heartbeat,
    HeartbeatTick,
    ModelSpendDay,
    VitalityRecord,
)
from archetypes_app.models.tick import TickStatus
from golem_project.a2a.models import OpenedRead
from permits_app.models import (
    ActionRecord,
    DeclaredPeg,
    HaltSetting,
    HighWaterMark,
    IdempotencyRecord,
    KnownAddress,
    OwnerBudget,
    SafeOpening,
    StandingPlan,
)
from tests import factories
from tests.architecture.sources import ROOT
from tools_app.core import clock
from tools_app.core.models import AuditCheckpoint
from tools_app.models import ToolDefinition, WasmModule, WasmRun
from tools_app.sandbox.definition import read_definition
from tools_app.wording.address_names import list_tokens


def make_kept_answer(golem: Golem) -> IdempotencyRecord:
    """An answer kept for a repeat of one of the golem's keys."""
    now = clock.now()
    return IdempotencyRecord.objects.create(
        api_key=factories.make_api_key(golem=golem).key,
        key="k",
        request_digest="0x",
        claim="c",
        locked_until=now,
        created_at=now,
        expires_at=now,
    )


def make_vitality(golem: Golem) -> VitalityRecord:
    """One reading of the golem's vitality."""
    update_vitality(golem_id=golem.pk, facts=VitalityFacts(1_000_000_000), now=clock.now())
    return VitalityRecord.objects.get(golem=golem)


def make_tool_definition(golem: Golem) -> ToolDefinition:
    """A definition of the golem's owner, with bytes that nobody runs."""
    module = WasmModule.objects.create(
        owner=golem.owner, sha256=uuid4().hex * 2, content=b"-", size=1, uploaded_at=clock.now()
    )
    text = (ROOT / "tools_app/sandbox/template/quote_scout.toml").read_text()
    definition = read_definition(text, module_sha256=module.sha256)
    more = ToolDefinition.objects.filter(owner=golem.owner).count()
    return ToolDefinition.objects.create(
        owner=golem.owner,
        name=f"{definition.name}_{more}" if more else definition.name,
        version=1,
        definition_hash=definition.hash,
        body=definition.body,
        module=module,
        created_at=clock.now(),
    )


def make_approval(golem: Golem) -> DefinitionApproval:
    """The owner's word that the golem has it."""
    definition = make_tool_definition(golem)
    return DefinitionApproval.objects.create(
        golem=golem,
        definition=definition,
        tool_name=definition.name,
        definition_hash=definition.definition_hash,
        approved_by=golem.owner,
        approved_at=clock.now(),
    )


def make_wasm_run(golem: Golem) -> WasmRun:
    """One call of it."""
    return WasmRun.objects.create(
        golem_id=golem.pk,
        definition=make_tool_definition(golem),
        params_hash="0x",
        started_at=clock.now(),
        duration_ms=1,
        fuel_used=1,
    )


def make_tick(golem: Golem) -> HeartbeatTick:
    """A tick that is over."""
    now, number = clock.now(), HeartbeatTick.objects.filter(golem=golem).count() + 1
    times = {"scheduled_at": now, "started_at": now, "ended_at": now}
    return HeartbeatTick.objects.create(golem=golem, number=number, fence=number, status=TickStatus.COMPLETE, **times)


def make_decision(golem: Golem) -> DecisionCycleRecord:
    """What that tick decided."""
    return DecisionCycleRecord.objects.create(
        tick=make_tick(golem), golem=golem, heartbeat_tick=1, decided_at=clock.now(), is_live=False, phase=golem.phase
    )


def make_declared_peg(golem: Golem) -> DeclaredPeg:
    """A token that by the word of the golem's owner stands for a dollar."""
    return DeclaredPeg.objects.create(
        golem=golem,
        chain_id=31337,
        token=f"0x{uuid4().hex}abcdabcd",
        name=f"crvUSD of {golem.name}"[:32],
        stands_for="USD",
        source="docs.curve.finance",
    )


def make_known_address(golem: Golem) -> KnownAddress:
    """An address that the golem's owner gave a name."""
    is_first = not KnownAddress.objects.filter(owner=golem.owner).exists()
    return KnownAddress.objects.create(
        owner=golem.owner,
        address=f"0x{golem.pk.hex}abcdabcd",
        name="Treasury" if is_first else f"Treasury of {golem.name}",
    )


def make_standing_plan(golem: Golem) -> Any:
    return StandingPlan.objects.create(
        golem=golem,
        kind="purchase",
        venue="uniswap",
        token_in=f"0x{golem.pk.hex:0>40}",
        token_out=f"0x{7:040x}",
        words=f"give 100 USDC for WETH at uniswap, for {golem.name}",
        amount_raw=1,
        every_hours=24,
        times=10,
        slippage_bps=50,
        ends_at=clock.now() + timedelta(days=30),
    )


MAKERS: dict[str, Callable[[Golem], Any]] = {
    "archetypes_app.golem": lambda golem: golem,
    "archetypes_app.apikey": lambda golem: factories.make_api_key(golem=golem).key,
    "archetypes_app.archetype": lambda golem: factories.make_archetype(owner=golem.owner),
    "archetypes_app.toolprofile": lambda golem: factories.make_profile(name=f"p-{golem.pk.hex}", owner=golem.owner),
    "archetypes_app.modelspendday": lambda golem: ModelSpendDay.objects.create(
        golem=golem, day=clock.now().date(), cap_micro_usd=10_000_000, spent_micro_usd=2_100
    ),
    "archetypes_app.heartbeat": lambda golem: Heartbeat.objects.create(golem=golem),
    "archetypes_app.heartbeattick": make_tick,
    "archetypes_app.decisioncyclerecord": make_decision,
    "archetypes_app.alertbatch": lambda golem: AlertBatch.objects.create(
        golem=golem, window_start=clock.now(), created_at=clock.now()
    ),
    "archetypes_app.artifact": lambda golem: Artifact.objects.create(
        golem=golem,
        domain="liquidity",
        subject="a pool",
        statement="It holds.",
        support=9,
        total=9,
        confidence_percent=90,
        episode_sources=[golem.pk],
        price_micro_usd=387_500,
        published_at=clock.now(),
        validation_recipe={"measure": "price_near_feeds", "rows": [], "rule": "near", "expect": {}},
    ),
    "permits_app.actionrecord": lambda golem: ActionRecord.objects.create(
        tick=make_tick(golem), golem=golem, position=0, action_type="swap"
    ),
    "archetypes_app.codingworkspace": lambda golem: CodingWorkspace.objects.create(golem=golem),
    "archetypes_app.definitionapproval": make_approval,
    "tools_app.tooldefinition": make_tool_definition,
    "tools_app.wasmrun": make_wasm_run,
    "archetypes_app.vitalityrecord": lambda golem: make_vitality(golem),
    "archetypes_app.phasetransition": lambda golem: factories.make_phase_transition(golem=golem),
    "permits_app.actionpermit": lambda golem: factories.make_permit(golem=golem),
    "permits_app.allowlistentry": lambda golem: factories.make_allowlist_entry(golem=golem),
    "permits_app.policycage": lambda golem: factories.make_cage(golem=golem),
    "permits_app.spendinglimits": lambda golem: factories.make_limits(golem=golem),
    "permits_app.spendentry": lambda golem: factories.make_spend_entry(permit=factories.make_permit(golem=golem)),
    "permits_app.standingallowance": lambda golem: factories.make_standing_allowance(
        permit=factories.make_permit(golem=golem)
    ),
    "permits_app.pendingrequest": lambda golem: factories.make_pending_request(
        permit=factories.make_permit(golem=golem)
    ),
    "permits_app.signedpromise": lambda golem: factories.make_signed_promise(permit=factories.make_permit(golem=golem)),
    "permits_app.receivedright": lambda golem: factories.make_received_right(golem=golem),
    "permits_app.rightuse": lambda golem: factories.make_right_use(permit=factories.make_permit(golem=golem)),
    "permits_app.capabilitygrant": lambda golem: factories.make_grant(permit=factories.make_permit(golem=golem)),
    "permits_app.changerequest": lambda golem: factories.make_change_request(golem=golem),
    "permits_app.haltrecord": lambda golem: factories.make_halt(golem=golem),
    "permits_app.haltsetting": lambda golem: HaltSetting.objects.create(golem=golem),
    "permits_app.highwatermark": lambda golem: HighWaterMark.objects.create(
        golem=golem, value_micro_usd=1, reached_at=clock.now()
    ),
    "permits_app.idempotencyrecord": lambda golem: make_kept_answer(golem),
    "permits_app.noncereservation": lambda golem: factories.make_nonce_reservation(
        permit=factories.make_permit(golem=golem, signer=list_tokens(31337)[0].address), nonce=golem.pk.int % 10**6
    ),
    "permits_app.outboundtransaction": lambda golem: factories.make_transaction(
        permit=factories.make_permit(golem=golem), nonce=golem.pk.int % 10**6
    ),
    "permits_app.ownerbudget": lambda golem: OwnerBudget.objects.get_or_create(
        person=golem.owner, defaults={"per_day_micro_usd": 2_500_000_000}
    )[0],
    "permits_app.outcomerecord": lambda golem: factories.make_outcome(permit=factories.make_permit(golem=golem)),
    "permits_app.cagemirror": lambda golem: factories.make_cage_mirror(golem=golem),
    "permits_app.safeopening": lambda golem: SafeOpening.objects.create(
        golem=golem, chain_id=31337, account="0x" + "33" * 20, handler="0x" + "44" * 20, is_open=False
    ),
    "permits_app.declaredpeg": make_declared_peg,
    "permits_app.knownaddress": make_known_address,
    "permits_app.standingplan": make_standing_plan,
    "permits_app.venuetrust": lambda golem: factories.make_venue_trust(permit=factories.make_permit(golem=golem)),
    "permits_app.signingkey": lambda golem: factories.make_signing_key(golem=golem),
    "permits_app.wallet": lambda golem: factories.make_wallet(golem=golem),
    "memory_app.episode": lambda golem: factories.make_episode(golem=golem),
    "memory_app.insight": lambda golem: factories.make_insight(golem=golem),
    "memory_app.strategy": lambda golem: factories.make_strategy(golem=golem),
    "memory_app.execution": lambda golem: factories.make_execution(golem=golem),
    "memory_app.dreamjournal": lambda golem: factories.make_dream(golem=golem),
    "memory_app.directive": lambda golem: factories.make_directive(golem=golem),
    "tools_app.auditcheckpoint": lambda golem: AuditCheckpoint.objects.create(
        golem_id=golem.pk,
        seq=1,
        entry_hash="0x",
        signed_at_ms=int(clock.now().timestamp() * 1000),
        public_key="00",
        signature="00",
    ),
    "stream.webhookendpoint": lambda golem: factories.make_webhook(golem=golem),
    "a2a.task": lambda golem: factories.make_a2a_task(golem=golem),
    "a2a.openedread": lambda golem: OpenedRead.objects.create(
        golem=golem, query=uuid4().hex, venue="golem", created_at=clock.now()
    ),
    "stream.webhookdelivery": lambda golem: factories.make_webhook_delivery(golem=golem),
    "tools_app.auditentry": lambda golem: factories.make_audit_entry(golem=golem),
    "tools_app.outboxevent": lambda golem: factories.make_event(golem=golem),
}

EDITED_BY_OWNERS = frozenset(
    {
        "archetypes_app.golem",
        "archetypes_app.codingworkspace",
        "archetypes_app.heartbeat",
        "archetypes_app.archetype",
        "archetypes_app.toolprofile",
        "permits_app.allowlistentry",
        "permits_app.declaredpeg",
        "permits_app.haltsetting",
        "permits_app.policycage",
        "permits_app.spendinglimits",
    }
)
SEEN_BY_OPERATORS_ALONE = (
    "auth.user",
    "auth.group",
    "django_celery_beat.periodictask",
    "django_celery_beat.intervalschedule",
    "django_celery_beat.crontabschedule",
    "django_celery_beat.solarschedule",
    "django_celery_beat.clockedschedule",
    "permits_app.knowncontract",
    "permits_app.noncecursor",
    "permits_app.chainmark",
)


def page(model: str, name: str, *args: Any) -> str:
    """The address of an admin page of `app.model`."""
    return reverse(f"admin:{model.replace('.', '_')}_{name}", args=args)


def form_page(model: str, key: Any) -> str:
    """Where a row of `app.model` is edited: a golem's form is one of the tabs of its page."""
    return page(model, "settings" if model == "archetypes_app.golem" else "change", key)


def opened_as(browser: Client, url: str) -> dict[str, str]:
    """What the form at `url` says of its row as it is now; sent along with an edit."""
    context = browser.get(url).context
    form = context["adminform"].form if "adminform" in context else context["form"]
    return {"opened_as": str(form["opened_as"].value())}
