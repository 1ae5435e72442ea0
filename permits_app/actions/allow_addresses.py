"""Fill a golem's allowlist: what this server knows on a chain, and the act of allowing some of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.models import AllowlistEntry
from permits_app.models.allowlist import AllowlistKind
from tools_app.chain.chains import get_deployment
from tools_app.core import audit_log
from tools_app.core.whole import whole
from tools_app.toolkit.protocol import SHELF


@dataclass(frozen=True, slots=True)
class AllowlistChoice:
    """One address an owner may allow, with a name a person knows it by."""

    chain_id: int
    kind: str
    address: str
    label: str


def suggest_allowlist(chain_id: int) -> list[AllowlistChoice]:
    """The registered tokens of a chain, the protocol contracts the write tools call there, and claims they approve."""
    deployment = get_deployment(chain_id)
    tokens = [
        AllowlistChoice(chain_id, AllowlistKind.TOKEN, token.address, token.symbol) for token in deployment.tokens
    ]
    contracts = [
        AllowlistChoice(chain_id, kind, address, contract.label)
        for address, contract in SHELF.contracts_on(chain_id)
        for kind in (AllowlistKind.CONTRACT, AllowlistKind.SPENDER)
        if kind == AllowlistKind.CONTRACT or contract.takes_tokens
    ]
    claims = [
        AllowlistChoice(chain_id, AllowlistKind.TOKEN, address, contract.label)
        for address, contract in SHELF.contracts_on(chain_id)
        if contract.is_token
    ]
    token_contracts = [
        AllowlistChoice(chain_id, AllowlistKind.CONTRACT, token.address, f"{token.label} (token contract)")
        for token in tokens
    ]
    return [*tokens, *claims, *token_contracts, *contracts]


@whole
def allow_addresses(*, golem: Golem, choices: Iterable[AllowlistChoice], actor: str, now: datetime) -> int:
    """Allow addresses; those allowed already stay as they are. Writes the audit log. Returns by how many it grew."""
    rows = [
        AllowlistEntry(
            golem=golem, chain_id=choice.chain_id, kind=choice.kind, address=choice.address, label=choice.label
        )
        for choice in choices
    ]
    allowed = AllowlistEntry.objects.filter(golem=golem)
    with transaction.atomic():
        before = allowed.count()
        # The constraint of the table says what is allowed already, also to who allows the same at this moment.
        AllowlistEntry.objects.bulk_create(rows, ignore_conflicts=True)
        added = allowed.count() - before
        if added:
            audit_log.append(
                golem_id=golem.pk, event="AllowlistExtended", actor=actor, data={"added": str(added)}, now=now
            )
    return added
