"""Workers of two machines of which one has the keys: what the other cannot sign it hands on, and readiness tells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from permits_app.actions.commit_in_turn import commit_in_turn
from permits_app.custody.signers.choose_signer import is_held_here
from permits_app.custody.signers.keystore import Keystore
from permits_app.execution.commit_turns import is_for_another, list_turns
from permits_app.models import ActionPermit
from permits_app.permits.blocked_commits import UNSIGNED_AFTER, list_unsigned_accounts
from tests.concurrency.test_stuck_accounts import give
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    """This process has no file of any key."""
    settings.GOLEM_KEY_WAIT_SECONDS = 20
    monkeypatch.setattr("permits_app.custody.signers.choose_signer._held", set())
    monkeypatch.setattr(Keystore, "holds", lambda self, address: False)
    yield


def test_a_key_that_no_worker_has_is_waited_for_so_long_and_then_refused(
    shared_golem: LiveGolem, keyless: None, settings: Any
) -> None:
    permit_id = give(shared_golem)
    begun = ActionPermit.objects.get(pk=permit_id).committing_at
    assert begun is not None and not is_held_here(shared_golem.golem.address)
    edge = begun + timedelta(seconds=20)
    before = edge - timedelta(microseconds=1)
    assert list_turns(permit_id=permit_id, now=before) == [] and is_for_another(permit_id, now=before)
    assert [turn.permit_id for turn in list_turns(permit_id=permit_id, now=edge)] == [permit_id]
    assert not is_for_another(permit_id, now=edge)
    settings.GOLEM_KEY_WAIT_SECONDS = 0
    (done,) = commit_in_turn(permit_id=permit_id)
    assert (done["status"], done["problem"]["code"]) == ("BLOCKED", "SIGNER_UNAVAILABLE")


def test_readiness_tells_of_a_key_after_five_seconds(shared_golem: LiveGolem, keyless: None) -> None:
    begun = ActionPermit.objects.get(pk=give(shared_golem)).committing_at
    assert begun is not None
    edge = begun + UNSIGNED_AFTER
    assert list_unsigned_accounts(now=edge) == [(shared_golem.golem.address, begun)]
    assert list_unsigned_accounts(now=edge - timedelta(microseconds=1)) == []
