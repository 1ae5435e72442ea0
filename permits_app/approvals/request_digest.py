"""The digest of a request: what it binds, its export as a file, and the check of that file without this server.

A decision names the digest of what its owner saw; the database refuses one that names another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from permits_app.approvals.approval_statement import describe_calls, summarize_bounds
from permits_app.approvals.owner_calls import (
    compute_safe_tx_hash,
    describe_fields,
    describe_owner_call,
    read_end_signed,
    read_safe_tx,
    say_end,
)
from permits_app.approvals.safe_proposals import makes_the_plan
from permits_app.custody.signing_route import carries_its_batch
from permits_app.models import ActionPermit, ChangeRequest
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.plan_store import read_stated_end
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored

EXPORT_VERSION: Final = 1
_PLAN_COLUMNS: Final = (
    "signer",
    "chain_id",
    "tool_name",
    "schema_version",
    "params",
    "calls",
    "max_fee_per_gas",
    "max_priority_fee_per_gas",
    "value_micro_usd",
    "bounds",
    "code",
    "acts_for",
    "batch",
)


@dataclass(frozen=True, slots=True)
class DigestCheck:
    """One thing that was checked, and whether it holds."""

    what: str
    holds: bool
    detail: str = ""


def describe_binding(request: ChangeRequest) -> dict[str, object]:
    """Everything the digest covers, JSON-ready."""
    return {
        "version": EXPORT_VERSION,
        "request": str(request.pk),
        "golem": str(request.golem_id),
        "kind": request.kind,
        "title": request.title,
        "permit": str(request.permit_id) if request.permit_id else None,
        "risk_tier": request.risk_tier,
        "value_micro_usd": str(request.value_micro_usd),
        "asker": request.asker,
        "reason": request.reason,
        "barred_owner": str(request.barred_owner_id) if request.barred_owner_id else None,
        "is_single_owner": request.is_single_owner,
        "required_approvals": str(request.required_approvals),
        "needs_second_factor": request.needs_second_factor,
        "cooling_seconds": str(request.cooling_seconds),
        "change": request.change,
        "shown": request.shown,
        "plan_hash": request.plan_hash,
        "policy_hash": request.policy_hash,
    }


def hash_request(request: ChangeRequest) -> str:
    """The digest, from the row's own columns."""
    return hash_canonical(describe_binding(request))


def hash_change(*, golem_id: UUID, kind: str, change: Mapping[str, object]) -> str:
    """The plan hash of an owner's operation: golem, kind and arguments."""
    return hash_canonical({"golem": str(golem_id), "kind": kind, "change": change})


@dataclass(frozen=True, slots=True)
class _ExportedRequest:
    """A request as a file: what its digest covers, the digest, and the columns of the permit's plan."""

    digest: str
    binding: dict[str, object]
    plan: dict[str, Any] | None = None  # Any: columns of a permit, each of its own type


@dataclass(frozen=True, slots=True)
class _ExportedChange:
    """Of a change what is signed for a Safe, and which operation a permit carries out."""

    safe_tx: dict[str, object] | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class _ExportedShown:
    """Of what owners are shown what is decoded from bytes."""

    calls: list[object] | None = None
    bounds: dict[str, object] | None = None
    safe_tx: list[dict[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class _ExportedBinding:
    """Of what a digest covers what is checked apart."""

    golem: UUID
    kind: str
    title: str
    change: dict[str, object]
    shown: _ExportedShown
    plan_hash: str
    permit: UUID | None = None

    @property
    def asked(self) -> _ExportedChange:
        """What is signed for a Safe."""
        return read_stored(_ExportedChange, self.change)

    @property
    def plan_document(self) -> dict[str, object] | None:
        """The SafeTx of a permit's own plan, which the calls shown are those of; None for an owners' operation."""
        return self.asked.safe_tx if self.kind == "permit" and self.asked.operation is None else None


def export_request(request: ChangeRequest) -> JsonObject:
    """The request as a file for `manage.py verify_request`: its binding, its digest, and the permit's plan."""
    document: dict[str, object] = {"digest": request.digest, "binding": describe_binding(request)}
    if request.permit is not None:
        document |= {"plan": {name: getattr(request.permit, name) for name in _PLAN_COLUMNS}}
    return document


def verify_export(document: Mapping[str, object]) -> list[DigestCheck]:
    """Recompute every hash of an exported request, and decode its calls anew. Asks neither database nor node. Raises
    ValueError for what is no exported request.
    """
    exported = read_stored(_ExportedRequest, document)
    binding = read_stored(_ExportedBinding, exported.binding)
    digest = hash_canonical(exported.binding)
    found = [DigestCheck("the digest covers what is shown", digest == exported.digest, digest)]
    found += _verify_safe_tx(binding)
    if exported.plan is None:
        computed = hash_change(golem_id=binding.golem, kind=binding.kind, change=binding.change)
        return [*found, DigestCheck("the plan hash covers the change", computed == binding.plan_hash, computed)]
    permit = ActionPermit(id=binding.permit, golem_id=binding.golem, **exported.plan)
    computed = hash_plan(permit)
    shown = binding.shown
    calls: list[object] | None = [*describe_calls(permit.plan_calls, chain_id=permit.chain_id)]
    document_of_plan = binding.plan_document
    if document_of_plan is not None:
        found.append(DigestCheck("what the owners sign is this plan", makes_the_plan(permit, document_of_plan)))
        ends_at = read_end_signed(document_of_plan)
        found.append(DigestCheck("the plan itself says when it ends", read_stated_end(permit) == ends_at))
    elif binding.asked.safe_tx is not None:
        calls = shown.calls
    bounds = summarize_bounds(permit.bounds, chain_id=permit.chain_id)
    return [
        *found,
        DigestCheck("the plan hash covers the calls that are signed", computed == binding.plan_hash, computed),
        DigestCheck("the calls shown are those of the plan", calls == shown.calls),
        DigestCheck("what is signed makes exactly these calls", carries_its_batch(permit)),
        DigestCheck("the amounts and allowances shown are those of the plan", bounds == shown.bounds),
    ]


def _verify_safe_tx(binding: _ExportedBinding) -> list[DigestCheck]:
    """What the Safe's owners sign: its hash from its fields, its call decoded anew. Nothing without one."""
    document = binding.asked.safe_tx
    if document is None:
        return []
    asked = read_safe_tx(document)
    computed = "0x" + compute_safe_tx_hash(document).hex()
    shown = binding.shown
    found = [
        DigestCheck("the hash to sign is that of the fields shown", computed == asked.safe_tx_hash, computed),
        DigestCheck("the fields shown are those that are signed", describe_fields(document) == shown.safe_tx),
    ]
    # What was asked for before changes could end says nothing of an end.
    if binding.plan_document is not None or asked.ends_at is not None:
        ends_at, stated = read_end_signed(document), asked.ends_at or 0
        found.append(DigestCheck("what the owners sign ends when it is said to", stated == ends_at, say_end(ends_at)))
    if binding.plan_document is None:
        calls = [describe_owner_call(document, label=binding.title)]
        found.append(DigestCheck("the call shown is the one that is signed", calls == shown.calls))
    return found
