"""One row of every model that has no list in the admin and that its pages tell of: messages, refusals, versions, ends.

Each says something that no other row says, so that a page that shows it to the wrong person is found.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.contrib.auth.models import User

from archetypes_app.models import ChatTurn, Golem, GolemMember, Invitation, ServiceAccess, SignIn
from archetypes_app.roles import Role
from golem_project.a2a.models import Challenge, Visit
from golem_project.alerts.models import Alert, AlertChannel, ChannelKind
from permits_app.models import (
    Death,
    DeniedCall,
    FormerAccount,
    HealthAlert,
    NavSnapshot,
    OwnerApproval,
    PaymentHost,
    PolicyTrial,
    PolicyVersion,
    SoldAnswer,
    WithdrawalAddress,
)
from tests import factories
from tests.admin.rows import make_wasm_run
from tools_app.core import clock
from tools_app.models import ActionWish, SavedFilter, StreamSubscription
from tools_app.models.tool_checkpoint import ToolCheckpoint


def say(golem: Golem, what: str) -> str:
    """Words of that golem's row alone."""
    return f"{what} {golem.pk.hex[:12]}"


def name_address(golem: Golem) -> str:
    """An address that no other golem's rows name."""
    return f"0x{golem.pk.hex}cafecafe"


def make_chat(golem: Golem) -> Any:
    now = clock.now()
    words = {"words": say(golem, "asked for"), "said": say(golem, "answered with")}
    return ChatTurn.objects.create(golem=golem, owner=golem.owner, state="DONE", asked_at=now, ended_at=now, **words)


def make_invitation(golem: Golem) -> Any:
    now = clock.now()
    return Invitation.objects.create(
        golem=golem,
        label=say(golem, "invited"),
        token_hash=uuid4().hex * 2,
        invited_by=golem.owner,
        created_at=now,
        expires_at=now + timedelta(days=7),
    )


def make_viewer(golem: Golem) -> Any:
    person = User.objects.create(username=f"viewer-of-{golem.pk.hex[:12]}")
    return GolemMember.objects.create(golem=golem, person=person, role=Role.VIEWER, since=clock.now())


def make_denial(golem: Golem) -> Any:
    return DeniedCall.objects.create(
        golem=golem,
        denied_at=clock.now(),
        tool_name="t",
        action_type="swap",
        venue="uniswap",
        chain_id=31337,
        action_class="NEW_POSITION",
        code="POLICY_REJECTED",
        detail=say(golem, "refused because of"),
    )


def make_death(golem: Golem) -> Any:
    now = clock.now()
    return Death.objects.create(
        golem=golem,
        state="STOPPED",
        reason=say(golem, "was to end for"),
        actor="owner:1",
        announced_at=now,
        due_at=now,
        ended_at=now,
        ended_by=say(golem, "kept by"),
    )


def make_former_account(golem: Golem) -> Any:
    return FormerAccount.objects.create(
        golem=golem, chain_id=31337, address=name_address(golem), kind="KEYSTORE", left_at=clock.now()
    )


def make_health_alert(golem: Golem) -> Any:
    return HealthAlert.objects.create(
        golem=golem, protocol=f"lender_{golem.pk.hex[:12]}", chain_id=31337, min_health_bps=15_000
    )


def make_value(golem: Golem) -> Any:
    position = {
        "ref": f"lender/account/31337/{golem.pk.hex}",
        "label": say(golem, "account of"),
        "protocol": "Lender",
        "is_simulated": False,
        "holds": [],
        "owes": [],
        "micro_usd": "1000000",
        "debt": "0",
        "health_bps": None,
        "free_at": None,
    }
    holdings = {
        **dict.fromkeys(("tokens", "problems", "shares"), []),
        "positions": [position],
        "value": "1000000",
        "debt": "0",
        "liquid": "1000000",
    }
    return NavSnapshot.objects.create(
        golem=golem, at=clock.now(), chain_id=31337, block_number=1, value_micro_usd=1_000_000, holdings=holdings
    )


def make_trial(golem: Golem) -> Any:
    now = clock.now()
    return PolicyTrial.objects.create(
        golem=golem,
        asked_by=say(golem, "tried by"),
        policy=None,
        last=10,
        state="FAILED",
        problem={"detail": say(golem, "failed for")},
        created_at=now,
        moved_at=now,
    )


def make_version(golem: Golem) -> Any:
    return PolicyVersion.objects.create(
        golem=golem,
        number=900,
        policy={"limits": {}, "cage": {}, "allowlist": []},
        policy_hash=f"0x{uuid4().hex}",
        actor="owner:1",
        reason=say(golem, "changed for"),
        created_at=clock.now(),
    )


def make_withdrawal_address(golem: Golem) -> Any:
    return WithdrawalAddress.objects.create(
        golem=golem,
        chain_id=31337,
        address=name_address(golem),
        label=say(golem, "goes to"),
        registered_at=clock.now(),
    )


def make_payment_host(golem: Golem) -> Any:
    return PaymentHost.objects.create(
        golem=golem,
        chain_id=31337,
        origin=f"https://{golem.pk.hex}.example",
        token=name_address(golem),
        most_raw=1,
        most_a_day_raw=2,
        listed_at=clock.now(),
    )


def make_visit(golem: Golem) -> Any:
    now = clock.now()
    challenge = Challenge.objects.create(
        golem=golem,
        address=name_address(golem),
        nonce=uuid4().hex,
        domain=say(golem, "signed for"),
        created_at=now,
        expires_at=now + timedelta(minutes=5),
    )
    return Visit.objects.create(
        challenge=challenge,
        golem=golem,
        address=name_address(golem),
        digest=uuid4().hex,
        expires_at=now + timedelta(hours=1),
    )


def make_alert(golem: Golem) -> Any:
    now = clock.now()
    channel = AlertChannel.objects.create(
        person=golem.owner,
        golem=golem,
        label=say(golem, "tells"),
        kind=ChannelKind.WEBHOOK,
        sealed_target=b"-",
        log_id=UUID(int=0),
        position=0,
        last_error=say(golem, "did not arrive"),
        created_at=now,
        confirmed_at=now,
    )
    return Alert.objects.create(
        channel=channel, golem=golem, event_id=uuid4(), text=say(golem, "told of"), happened_at=now
    )


def make_subscription(golem: Golem) -> Any:
    now = clock.now()
    return StreamSubscription.objects.create(
        subscription_id=uuid4(),
        golem_id=golem.pk,
        kind="trades",
        chain_id=31337,
        params={"wallet_address": name_address(golem)},
        params_hash="0x",
        interval_ms=60_000,
        created_at=now,
        expires_at=now + timedelta(days=1),
        next_poll_at=now,
    )


def make_checkpoint(golem: Golem) -> Any:
    data = {"from": say(golem, "came to")}
    return ToolCheckpoint.objects.create(
        golem_id=golem.pk, tool_name="t", params_hash="0x", data=data, kept_at=clock.now()
    )


def make_wish(golem: Golem) -> Any:
    run, now = make_wasm_run(golem), clock.now()
    return ActionWish.objects.create(
        golem_id=golem.pk,
        run=run,
        definition=run.definition,
        action_type="swap",
        why=say(golem, "wished for"),
        created_at=now,
        expires_at=now + timedelta(minutes=5),
    )


def make_decision(golem: Golem) -> Any:
    request = factories.make_change_request(golem=golem)
    return OwnerApproval.objects.create(
        request=request,
        owner=golem.owner,
        verdict="REJECT",
        reason=say(golem, "rejected for"),
        digest=request.digest,
        has_second_factor=True,
        decided_at=clock.now(),
    )


def make_sale(golem: Golem) -> Any:
    now = clock.now()
    return SoldAnswer.objects.create(
        golem=golem,
        query=say(golem, "sold"),
        venue="golem",
        asked_digest="0x",
        answer={"data": say(golem, "answered with")},
        chain_id=31_337,
        token=name_address(golem),
        method="eip3009",
        payer=name_address(golem),
        payee=name_address(golem),
        raw=50_000,
        units="0.05 USDC",
        nonce=f"0x{golem.pk.hex:0>64}",
        since_block=1,
        ends_at=now,
        state="SOLD",
        sold_at=now,
    )


BESIDE: Final[dict[str, Callable[[Golem], Any]]] = {
    "permits_app.soldanswer": make_sale,
    "archetypes_app.chatturn": make_chat,
    "archetypes_app.invitation": make_invitation,
    "archetypes_app.golemmember": make_viewer,
    "permits_app.deniedcall": make_denial,
    "permits_app.death": make_death,
    "permits_app.formeraccount": make_former_account,
    "permits_app.healthalert": make_health_alert,
    "permits_app.navsnapshot": make_value,
    "permits_app.policytrial": make_trial,
    "permits_app.policyversion": make_version,
    "permits_app.withdrawaladdress": make_withdrawal_address,
    "permits_app.paymenthost": make_payment_host,
    "permits_app.ownerapproval": make_decision,
    "a2a.challenge": make_visit,
    "a2a.visit": make_visit,
    "alerts.alertchannel": make_alert,
    "alerts.alert": make_alert,
    "tools_app.streamsubscription": make_subscription,
    "tools_app.toolcheckpoint": make_checkpoint,
    "tools_app.actionwish": make_wish,
}
"""Rows of a golem."""


def make_filter(person: Any) -> Any:
    return SavedFilter.objects.create(
        person=person, list_name="permits_app_actionpermit", name=f"filter of {person.username}", params={}
    )


def make_sign_in(person: Any) -> Any:
    return SignIn.objects.create(
        person=person,
        session_key=uuid4().hex,
        browser=f"browser of {person.username}",
        address="203.0.113.7",
        signed_in_at=clock.now(),
    )


def make_access(person: Any) -> Any:
    return ServiceAccess.objects.create(
        person=person,
        service=f"service of {person.username}",
        questions_an_hour=5,
        last_error=f"no answer for {person.username}",
        created_at=clock.now(),
    )


PERSONAL: Final[dict[str, Callable[[Any], Any]]] = {
    "tools_app.savedfilter": make_filter,
    "archetypes_app.signin": make_sign_in,
    "archetypes_app.serviceaccess": make_access,
}
"""Rows of a person, whichever golem a page is about."""

SAYS_NOTHING: Final = {
    "archetypes_app.agentsignin": "no page lists it: who types its code sees it, whoever that is",
    "tools_app.audithead": "the hash of the entry that its golem's list shows",
    "tools_app.eventsequence": "a number",
    "tools_app.wasmmodule": "made with its definition",
    "archetypes_app.tooloverride": "the name of a tool that everybody knows",
    "archetypes_app.stoppedaccount": "a time",
    "memory_app.episodevector": "figures of the episode that its golem's list shows",
    "permits_app.chainwatch": "its owner is a process",
    "tools_app.ownerhistory": "a number of days, which test_kept_for_owners asks for",
    "permits_app.recordarchive": "packed lines, which the statement of their golem tells",
    "permits_app.tickarchive": "packed lines, which the statement of their golem tells",
    "tools_app.auditarchive": "packed lines, which the statement of their golem tells",
    "permits_app.keyspend": "a sum of the entries that its golem's list shows",
    "permits_app.recordkeeping": "a number of days",
    "permits_app.passkeychallenge": "bytes that no page shows",
    "permits_app.warden": "a switch",
    "alerts.confirmationmail": "a digest",
}
"""Models with a golem or a person of which a page has no word to show."""
