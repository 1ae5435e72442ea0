"""The admin of golems as a whole: the wizard, approvals, permits, limits, ledgers and wallets."""

from __future__ import annotations

from permits_app.admin import (
    address_book,
    cage_mirrors,
    chains,
    changes,
    coding,
    declared_pegs,
    golems,
    halts,
    ledgers,
    limits,
    owner_budgets,
    pending_requests,
    permits,
    received_rights,
    safe_openings,
    server_records,
    signed_promises,
    tool_definitions,
    venue_trust,
    wallets,
)

__all__ = [
    "address_book",
    "cage_mirrors",
    "chains",
    "changes",
    "coding",
    "declared_pegs",
    "golems",
    "halts",
    "ledgers",
    "limits",
    "owner_budgets",
    "server_records",
    "pending_requests",
    "received_rights",
    "safe_openings",
    "signed_promises",
    "permits",
    "tool_definitions",
    "venue_trust",
    "wallets",
]
