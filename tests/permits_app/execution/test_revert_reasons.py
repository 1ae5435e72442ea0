"""A real revert is remembered with its cause, and a heuristic can move by it."""

from __future__ import annotations

from uuid import UUID

from django.test import override_settings

from memory_app.models import Episode
from permits_app.actions.remember import remember_outcome
from permits_app.models import OutcomeRecord
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tools_app.core import clock


def test_a_real_revert_reaches_memory_with_its_cause(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview(deadline=60)["permit_id"]
    with mining_paused(live_golem.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
        live_golem.start(permit_id)
        live_golem.work(permit_id)
        live_golem.world.rpc.call("evm_increaseTime", 120)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == "REVERTED", live_golem.permit(permit_id).status_reason
    outcome = OutcomeRecord.objects.get(permit_id=permit_id)
    assert "too old" in outcome.actual["revert_reason"].lower() or "expired" in outcome.actual["revert_reason"].lower()
    assert remember_outcome(permit_id=UUID(permit_id), now=clock.now(), use_model=False) is not None
    episode = Episode.objects.get(permit_id=permit_id)
    assert (episode.importance, episode.stability_days) == ("NOTABLE", 30.0)
    reflection = episode.reflection
    assert reflection["verdict"] == "reverted"
    assert reflection["why"] == ["The transaction was mined after its deadline."]


def test_what_succeeded_has_no_reason_to_have_reverted(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    assert live_golem.commit(permit_id)["status"] == "COMMITTED"
    assert "revert_reason" not in OutcomeRecord.objects.get(permit_id=permit_id).actual
