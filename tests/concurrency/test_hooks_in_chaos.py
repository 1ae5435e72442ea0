"""Each hook of the real chain, at preview and at commit, raises, hangs, answers nonsense, or loses its database.

A preview leaves nothing behind; a commit sends nothing until the chain has answered once more, whole.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection

from permits_app.errors import PolicyRejected
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.safety import hook_chain
from tests.golem_project.heartbeat.test_killed_tick import cut_connection
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain

HOOKS = [
    hook_chain.POLICY_CAGE,
    hook_chain.ALLOWLIST_GUARD,
    hook_chain.SPENDING_LIMITER,
    hook_chain.RATE_LIMITER,
    hook_chain.SIMULATOR,
    hook_chain.HALLUCINATION_DETECTOR,
]
Check = Callable[[Any, Any], Any]


def loses_its_database(check: Check) -> Check:
    def bent(self: Any, call: Any) -> Any:
        cut_connection()
        # Hooks that read nothing of their own find out by the next who does.
        ActionPermit.objects.exists()
        return check(self, call)

    return bent


def raises(check: Check) -> Check:
    def bent(self: Any, call: Any) -> Any:
        raise ZeroDivisionError("chaos")

    return bent


def answers_nonsense(check: Check) -> Check:
    return lambda self, call: {"decision": "Allow"}


def hangs(check: Check) -> Check:
    """It answers as it should, long after anybody could rely on it."""

    def bent(self: Any, call: Any) -> Any:
        answer, now_ms = check(self, call), clock.monotonic_ms
        clock.monotonic_ms = lambda: now_ms() + hook_chain.HOOK_BUDGET_MS + 1  # put back by the fixture
        return answer

    return bent


@pytest.fixture(autouse=True)
def clock_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "monotonic_ms", clock.monotonic_ms)


CHAOS = [loses_its_database, raises, answers_nonsense, hangs]
EACH = [pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name), pytest.mark.parametrize("chaos", CHAOS)]


def each(test: Any) -> Any:
    """Every hook in every kind of chaos."""
    for mark in EACH:
        test = mark(test)
    return test


def assert_nothing_left(golem: LiveGolem) -> None:
    connection.close()
    assert not SpendEntry.objects.filter(golem=golem.golem, state="RESERVED").exists()
    assert not NonceReservation.objects.exists() and not OutboundTransaction.objects.exists()
    assert golem.mined_nonce() == 0
    assert verify_stored_chain(golem.golem.pk).broken is None


@each
def test_a_preview_in_chaos_permits_nothing(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, hook: Any, chaos: Callable[[Check], Check]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(clock, "monotonic_ms", clock.monotonic_ms)
        patched.setattr(type(hook), "check", chaos(type(hook).check))
        # Without a database the refusal cannot be written down either; it is a failure then, not a permit.
        with pytest.raises((PolicyRejected, DatabaseError)):
            shared_golem.preview()
    connection.close()
    assert not ActionPermit.objects.exists()
    assert_nothing_left(shared_golem)
    assert shared_golem.preview()["status"] == "CREATED"


@each
def test_a_commit_in_chaos_sends_nothing_until_the_chain_has_answered(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, hook: Any, chaos: Callable[[Check], Check]
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    shared_golem.start(permit_id)
    # A new block: hook 5 runs again too.
    shared_golem.world.rpc.call("anvil_mine", "0x1")
    with monkeypatch.context() as patched:
        patched.setattr(clock, "monotonic_ms", clock.monotonic_ms)
        patched.setattr(type(hook), "check", chaos(type(hook).check))
        try:
            shared_golem.work(permit_id)
        except DatabaseError:
            assert chaos is loses_its_database
    connection.close()
    assert shared_golem.mined_nonce() == 0 and not OutboundTransaction.objects.exists()
    let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS), chain=shared_golem.world)
    if chaos is not loses_its_database:
        assert shared_golem.permit(permit_id).status == PermitStatus.BLOCKED
        assert_nothing_left(shared_golem)
        return
    # Nothing was decided: a worker with a database decides it, once.
    assert shared_golem.permit(permit_id).status in (PermitStatus.COMMITTING, PermitStatus.BLOCKED)
    shared_golem.work(permit_id)
    shared_golem.work(permit_id)
    assert shared_golem.permit(permit_id).status in (PermitStatus.COMMITTED, PermitStatus.BLOCKED)
    assert shared_golem.mined_nonce() == OutboundTransaction.objects.count()
