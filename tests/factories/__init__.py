"""Rows for tests, made by plain functions with explicit arguments; no hidden rows, no fixtures."""

from __future__ import annotations

from tests.factories.a2a import make_a2a_notification, make_a2a_task
from tests.factories.approvals import make_change_request
from tests.factories.golems import make_api_key, make_archetype, make_golem, make_operator, make_owner, make_profile
from tests.factories.permits import (
    make_allowlist_entry,
    make_cage,
    make_cage_mirror,
    make_committed_permit,
    make_grant,
    make_halt,
    make_limits,
    make_nonce_reservation,
    make_outcome,
    make_permit,
    make_signing_key,
    make_spend_entry,
    make_standing_allowance,
    make_transaction,
    make_venue_trust,
    make_wallet,
)
from tests.factories.records import (
    make_audit_entry,
    make_directive,
    make_dream,
    make_episode,
    make_event,
    make_execution,
    make_insight,
    make_phase_transition,
    make_strategy,
)
from tests.factories.requests import (
    make_pending_request,
    make_received_right,
    make_right_use,
    make_signed_promise,
)
from tests.factories.webhooks import make_webhook, make_webhook_delivery

__all__ = [
    "make_a2a_notification",
    "make_a2a_task",
    "make_allowlist_entry",
    "make_api_key",
    "make_archetype",
    "make_audit_entry",
    "make_cage",
    "make_cage_mirror",
    "make_change_request",
    "make_committed_permit",
    "make_directive",
    "make_dream",
    "make_episode",
    "make_event",
    "make_execution",
    "make_golem",
    "make_grant",
    "make_halt",
    "make_insight",
    "make_limits",
    "make_nonce_reservation",
    "make_operator",
    "make_outcome",
    "make_pending_request",
    "make_received_right",
    "make_right_use",
    "make_signed_promise",
    "make_standing_allowance",
    "make_owner",
    "make_permit",
    "make_phase_transition",
    "make_profile",
    "make_signing_key",
    "make_spend_entry",
    "make_strategy",
    "make_transaction",
    "make_venue_trust",
    "make_wallet",
    "make_webhook",
    "make_webhook_delivery",
]
