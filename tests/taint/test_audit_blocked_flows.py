"""What was kept from a sink stands in the audit log, by label and count; what a golem signed stands there too."""

from __future__ import annotations

from permits_app.models import OutboundTransaction
from permits_app.tasks import preview_action_task
from tests.adversary.conftest import SWAP, Adversary
from tests.adversary.conftest import adversary as adversary
from tests.broken_link import find_broken_link
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.core.taint import Secret, TaintLabel

NODE = "https://node.example/v3/canarycanarycanarycanary-of-a-flow"
MAIL = "somebody.private@example.org"


def blocked(adversary: Adversary) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(golem_id=adversary.live.golem.pk, event="TaintViolationBlocked"))


def test_a_secret_and_an_address_in_an_agents_words_are_kept_back_and_counted(adversary: Adversary) -> None:
    Secret(NODE, TaintLabel.OWNER_SECRET)
    permit_id = adversary.preview(**SWAP, venue="uniswap")[1]["permit_id"]
    assert blocked(adversary) == []
    status, answer = adversary.ask("cancel_action", {"permit_id": permit_id, "reason": f"ask {MAIL} about {NODE}"})
    assert status == 200, answer
    [entry] = blocked(adversary)
    assert {each["label"] for each in entry.data["blocked"]} == {"OWNER_SECRET", "USER_PII"}
    assert {"label": "USER_PII", "sink": "EVENTS", "count": 1} in entry.data["blocked"]
    told = OutboxEvent.objects.filter(golem_id=adversary.live.golem.pk, type="permit:cancelled").get().payload
    for text in (str(entry.data), str(told)):
        assert "canary" not in text and MAIL not in text


def test_a_preview_in_its_worker_counts_what_it_kept_back(adversary: Adversary) -> None:
    token = "golem_" + "k3y" * 15
    golem_id = str(adversary.live.golem.pk)
    pending = preview_action_task.delay(golem_id=golem_id, api_key_id=None, body={**SWAP, "venue": token})
    # As the product waits, also in a process that has run tasks itself.
    answer = pending.get(disable_sync_subtasks=False)
    assert answer["problem"]["code"] == "UNKNOWN_VENUE", answer
    [entry] = blocked(adversary)
    assert entry.actor == "system:runtime"
    assert {"label": "OWNER_SECRET", "sink": "AUDIT", "count": 1} in entry.data["blocked"]
    assert token not in str(entry.data) + str(answer)


def test_a_tick_that_keeps_nothing_back_writes_nothing_of_it(adversary: Adversary) -> None:
    turn_on(adversary.live.golem, rule={}, is_live=False)
    tick(adversary.live.golem)
    assert blocked(adversary) == []


def test_every_signed_transaction_stands_in_the_audit_log_before_its_permit_is_consumed(adversary: Adversary) -> None:
    permit_id = adversary.preview(**SWAP, venue="uniswap")[1]["permit_id"]
    assert adversary.ask("commit_action", {"permit_id": permit_id})[1]["status"] == "COMMITTED"
    entries = list(AuditEntry.objects.filter(golem_id=adversary.live.golem.pk).order_by("seq"))
    of_permit = [entry for entry in entries if entry.data.get("permit_id") == permit_id]
    order = [entry.event for entry in of_permit]
    assert order == ["PermitCreated", "PermitCommitStarted", "Transaction", "PermitConsumed", "EpisodeStored"]
    sent = OutboundTransaction.objects.filter(permit_id=permit_id).order_by("nonce")
    assert [each["tx_hash"] for each in of_permit[2].data["signed"]] == [row.tx_hash for row in sent]
    assert find_broken_link(entries) is None


def test_what_the_hooks_said_travels_with_the_permit(adversary: Adversary) -> None:
    adversary.preview(**SWAP, venue="uniswap")
    told = OutboxEvent.objects.filter(golem_id=adversary.live.golem.pk, type="permit:created").get().payload
    assert [each["hook"] for each in told["verdicts"]] == [
        "policy_cage",
        "allowlist_guard",
        "spending_limiter",
        "rate_limiter",
        "simulator",
        "hallucination_detector",
    ]
