"""Reads of permits, always scoped by golem; another golem's permit answers like one that does not exist."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from archetypes_app.models import Golem
from permits_app.errors import PermitNotFound
from permits_app.models import ActionPermit, OwnerTransaction
from permits_app.models.permit import PermitStatus
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_micro_usd

LARGEST_PAGE = 100


def get_permit(*, golem: Golem, permit_id: UUID) -> dict[str, Any]:
    """One permit as agents see it. Raises PermitNotFound."""
    return view_permit(load_permit(golem=golem, permit_id=permit_id))


def load_permit(*, golem: Golem, permit_id: UUID) -> ActionPermit:
    """The row. Raises PermitNotFound."""
    permit = ActionPermit.objects.filter(golem=golem, pk=permit_id).first()
    if permit is None:
        raise PermitNotFound(f"this golem has no permit {str(permit_id)!r}", permit_id=str(permit_id))
    return permit


def list_permits(
    *, golem: Golem, status: str | None = None, limit: int = 20, cursor: str | None = None
) -> dict[str, Any]:
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


def view_permit(permit: ActionPermit) -> dict[str, Any]:
    """The ActionPermit as JSON: hashes, what is expected, what is missing, how long it lasts, and what became of it."""
    # A permit that nobody committed has sent nothing, and every preview answers with such a one.
    sent = () if permit.status in _NOTHING_SENT else permit.transactions.order_by("call_index")
    transactions = [
        {
            "call_index": row.call_index,
            "tx_hash": row.tx_hash,
            "nonce": row.nonce,
            "state": row.state,
            "gas_used": row.gas_used,
            "block_number": row.block_number,
        }
        for row in sent
    ]
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
            {"label": call["label"], "to": call["to"], "value": call["value"], "gas_limit": call["gas_limit"]}
            for call in permit.calls
        ],
        "expected_outcome": permit.expected_outcome,
        "fidelity": permit.simulation.get("fidelity", ""),
        "review": permit.review,
        "missing": _missing(permit),
        "owners": _count_owners(permit),
        "soft_params": permit.soft_params,
        "created_at": permit.created_at.isoformat(),
        "expires_at": permit.expires_at.isoformat(),
        "transactions": transactions,
        "result": permit.result,
        "problem": permit.problem,
    }


_NOTHING_SENT = frozenset({PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED})


def _missing(permit: ActionPermit) -> list[str]:
    if permit.status == PermitStatus.AWAITING_APPROVAL:
        return ["approval"]
    return ["delay"] if permit.status == PermitStatus.ANNOUNCED else []


def _count_owners(permit: ActionPermit) -> dict[str, int] | None:
    """How many of its Safe's owners have to sign and how many did; None where no owner signs the plan."""
    if permit.status != PermitStatus.AWAITING_APPROVAL or not permit.acts_for:
        return None
    asked = OwnerTransaction.objects.filter(request__permit=permit).annotate(given=Count("signatures")).first()
    if asked is None:
        return None
    return {"needed": asked.threshold, "signed": asked.given + bool(asked.own_key)}


def _parse_cursor(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError:
        raise InvalidParams("the cursor is malformed", fields={"cursor": "malformed"}) from None
