"""Reads of permits, always scoped by golem; another golem's permit answers like one that does not exist."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Q
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.errors import PermitNotFound
from permits_app.models import ActionPermit, ChainMark, OutboundTransaction, OwnerTransaction
from permits_app.models.permit import PermitStatus
from permits_app.permits.request_stages import RequestStage, Stage, read_permit_stage
from permits_app.permits.risk_tier_rules import explain_tier
from permits_app.permits.stored_calls import read_signed_calls
from tools_app.chain.networks import configured_networks
from tools_app.chain.node_errors import RpcWrongChain
from tools_app.core import clock
from tools_app.core.compiled_query import CompiledQuery, CompiledStatement
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.prepared_statements import Filled, Rows, fetch_together
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.registry import REGISTRY

_TOLD_AFTER: Final = timedelta(seconds=15)

LARGEST_PAGE = 100
_NOBODY, _NOTHING = UUID(int=0), UUID(int=1)
_OWN_PERMIT: CompiledQuery[ActionPermit] = CompiledQuery(
    lambda permit_id, golem_id: ActionPermit.objects.filter(pk=permit_id, golem=golem_id), _NOTHING, _NOBODY
)
_PERMIT: CompiledQuery[ActionPermit] = CompiledQuery(
    lambda permit_id: ActionPermit.objects.filter(pk=permit_id), _NOTHING
)
_SENT_COLUMNS: Final = ("call_index", "tx_hash", "nonce", "state", "gas_used", "block_number")
_SENT = CompiledStatement(
    lambda permit_id: (
        OutboundTransaction.objects.filter(permit=permit_id).order_by("call_index").values_list(*_SENT_COLUMNS)
    ),
    _NOTHING,
)


def get_permit(*, golem: Golem, permit_id: UUID) -> JsonObject:
    """One permit as agents see it. Raises PermitNotFound."""
    found, sent = fetch_together(_OWN_PERMIT.fill(permit_id, golem.pk), _SENT.fill(permit_id))
    for permit in _OWN_PERMIT.read(found):
        return view_permit(permit, sent)
    raise _no_permit(permit_id)


def find_permit(permit_id: UUID) -> JsonObject | None:
    """One permit as its agent sees it, whatever golem's it is, in one round trip; None when there is none."""
    found, sent = fetch_together(_PERMIT.fill(permit_id), _SENT.fill(permit_id))
    return next((view_permit(permit, sent) for permit in _PERMIT.read(found)), None)


def load_permit(*, golem: Golem, permit_id: UUID) -> ActionPermit:
    """The row. Raises PermitNotFound."""
    for permit in _OWN_PERMIT.fetch(permit_id, golem.pk):
        return permit
    raise _no_permit(permit_id)


def _no_permit(permit_id: UUID) -> PermitNotFound:
    return PermitNotFound(f"this golem has no permit {str(permit_id)!r}", permit_id=str(permit_id))


def read_permit(permit_id: UUID, before: Filled) -> tuple[Rows, ActionPermit | None, Rows]:
    """What `before` gives, a permit of any golem, None where there is none, and the rows of its payloads that
    `view_permit` takes; all in one round trip.
    """
    told, found, sent = fetch_together(before, _PERMIT.fill(permit_id), _SENT.fill(permit_id))
    return told, next(iter(_PERMIT.read(found)), None), sent


def list_permits(*, golem: Golem, status: str | None = None, limit: int = 20, cursor: str | None = None) -> JsonObject:
    """Permits of one golem, newest first: `permits`, and `next_cursor` when there are more. Raises InvalidParams."""
    if status is not None and status not in PermitStatus.values:
        raise InvalidParams(f"there is no permit status {status!r}", allowed=list(PermitStatus.values))
    rows = ActionPermit.objects.filter(golem=golem).order_by("-created_at", "-id")
    if status is not None:
        rows = rows.filter(status=status)
    if cursor is not None:
        anchor = ActionPermit.objects.filter(golem=golem, pk=_parse_cursor(cursor)).first()
        if anchor is None:
            raise InvalidParams("the cursor names no permit of this golem", fields={"cursor": "unknown"})
        rows = rows.filter(Q(created_at__lt=anchor.created_at) | Q(created_at=anchor.created_at, id__lt=anchor.pk))
    size = max(1, min(limit, LARGEST_PAGE))
    page = list(rows[: size + 1])
    return {
        "permits": [view_permit(permit) for permit in page[:size]],
        "next_cursor": str(page[size - 1].pk) if len(page) > size else None,
    }


def view_permit(permit: ActionPermit, sent: Rows | None = None) -> dict[str, object]:
    """The ActionPermit as JSON: hashes, what is expected, what is missing, how long it lasts, and what became of it.

    `sent` are the rows of `_SENT` where they were read with it.
    """
    if sent is None:
        # A permit that nobody committed has sent nothing, and every preview answers with such a one.
        sent = [] if permit.status in _NOTHING_SENT else _SENT.fetch(permit.pk)
    stage = read_permit_stage(permit, now=clock.now())
    transactions = [dict(zip(_SENT_COLUMNS, row, strict=True)) for row in sent]
    return {
        "permit_id": str(permit.pk),
        "status": permit.status,
        "status_reason": permit.status_reason,
        "action_type": permit.action_type,
        "venue": permit.venue,
        "chain_id": permit.chain_id,
        "tool": permit.tool_name,
        "action_class": permit.action_class,
        "risk_tier": permit.risk_tier,
        "value_usd": format_micro_usd(permit.value_micro_usd),
        "value_micro_usd": str(permit.value_micro_usd),
        "plan_hash": permit.plan_hash,
        "simulation_hash": permit.simulation_hash,
        "policy_hash": permit.policy_hash,
        "calls": [
            {"label": call.label, "to": call.to, "value": str(call.value), "gas_limit": str(call.gas_limit)}
            for call in read_signed_calls(permit)
        ],
        "expected_outcome": permit.expected_outcome,
        "fidelity": permit.simulation.get("fidelity", ""),
        "review": permit.review,
        "missing": _missing(permit, stage),
        "waits": describe_wait(stage, rule=_say_rule(permit)),
        "owners": _count_owners(permit),
        "wished_by": permit.wished_by or None,
        "soft_params": permit.soft_params,
        "created_at": permit.created_at.isoformat(),
        "expires_at": permit.expires_at.isoformat(),
        "transactions": transactions,
        "result": permit.result,
        "problem": permit.problem,
    }


_REQUEST_PAGE: Final = "admin:permits_app_changerequest_change"
_NOTHING_SENT = frozenset({PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED})


def _missing(permit: ActionPermit, stage: RequestStage | None) -> list[str]:
    """What somebody still has to do, or the delay that has to pass. What owners approved misses no approval."""
    if permit.status == PermitStatus.AWAITING_APPROVAL:
        is_open = stage is None or stage.stage is Stage.DECIDE
        return ["approval"] if is_open else ["delay"] if stage and stage.until is not None else []
    return ["delay"] if permit.status == PermitStatus.ANNOUNCED else []


def describe_wait(stage: RequestStage | None, *, rule: str | None = None) -> dict[str, str | None] | None:
    """The state of what waits for owners or an announcement, in their own word, when it ends by itself, the rule that
    makes it wait, and the page of this server where owners decide.
    """
    if stage is None:
        return None
    until = stage.until.isoformat() if stage.until is not None else None
    page = reverse(_REQUEST_PAGE, args=[stage.request_id]) if stage.request_id is not None else None
    return {"state": str(stage.stage), "until": until, "rule": rule, "page": page}


def _say_rule(permit: ActionPermit) -> str | None:
    """Why owners have to decide; None where they need not."""
    if permit.status != PermitStatus.AWAITING_APPROVAL:
        return None
    tool = REGISTRY.get(permit.tool_name) if permit.tool_name in REGISTRY else None
    return explain_tier(
        RiskTier(permit.risk_tier),
        capability=tool.capability if tool is not None else None,
        risk_layer=tool.risk_layer if tool is not None else None,
    )


def _count_owners(permit: ActionPermit) -> dict[str, int] | None:
    """How many of its Safe's owners have to sign and how many did; None where no owner signs the plan."""
    if permit.status != PermitStatus.AWAITING_APPROVAL or not permit.acts_for:
        return None
    asked = OwnerTransaction.objects.filter(request__permit=permit).annotate(given=Count("signatures")).first()
    if asked is None:
        return None
    return {"needed": asked.threshold, "signed": asked.given + bool(asked.own_key)}


def list_stopped_chains(*, now: datetime) -> list[str]:
    """The configured chains that cannot be used, each with its code and since when: at once where a node serves another
    chain, after a while where it does not answer.
    """
    rows = ChainMark.objects.filter(
        chain_id__in=[network.chain_id for network in configured_networks()], trouble_since__isnull=False
    )
    stopped = rows.filter(Q(trouble=RpcWrongChain.code) | Q(trouble_since__lte=now - _TOLD_AFTER)).order_by("chain_id")
    return [f"chain {row.chain_id}: {row.trouble} since {row.trouble_since:%H:%M:%S}" for row in stopped]


def _parse_cursor(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError:
        raise InvalidParams("the cursor is malformed", fields={"cursor": "malformed"}) from None
