"""A refusal is a line in the audit log, with code, hook and rule, and never the parameters."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.test import override_settings

from permits_app import tasks
from permits_app.doors.request_commit import request_commit
from permits_app.errors import PermitNotFound
from permits_app.models import SpendingLimits
from tests.live_golem import SWAP, LiveGolem
from tools_app.core.models import AuditEntry, OutboxEvent


def test_a_refused_preview_is_audited_with_its_rule_and_without_its_parameters(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=1)
    answer = tasks.preview_action_task.run(
        golem_id=str(live_golem.golem.pk), api_key_id=None, body=dict(SWAP), actor="key:abc"
    )
    entry = AuditEntry.objects.get(golem_id=live_golem.golem.pk, event="PreviewDenied")
    assert answer["problem"]["code"] == entry.data["code"] == "SAFETY_SPENDING_LIMIT_EXCEEDED"
    assert (entry.actor, entry.data["hook"]) == ("key:abc", "spending_limiter")
    assert entry.data["rule"]
    assert SWAP["amount"] not in str(entry.data).replace(entry.data["params_hash"], "")
    assert OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="policy:limit_hit").count() == 1


def test_a_refused_commit_is_audited(live_golem: LiveGolem) -> None:
    missing = UUID("00000000-0000-4000-8000-000000000000")
    with override_settings(CELERY_TASK_ALWAYS_EAGER=False), pytest.raises(PermitNotFound):
        request_commit(
            golem=live_golem.golem, api_key=live_golem.key.key, permit_id=missing, wait_seconds=0, request_id="r"
        )
    entry = AuditEntry.objects.get(golem_id=live_golem.golem.pk, event="CommitDenied")
    assert entry.data == {"code": "PERMIT_NOT_FOUND", "permit_id": str(missing)}
