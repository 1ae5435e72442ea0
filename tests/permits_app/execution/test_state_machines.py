"""Hypothesis walks permits and ledger beside a naive reference, and the nonce book-keeping beside a list."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from archetypes_app.actions.sync_builtins import sync_builtins
from permits_app.execution.nonces import abandon_nonces, list_holes, reserve_nonces
from permits_app.models import ActionPermit, NonceReservation
from tests.factories.golems import make_golem, make_owner
from tests.proof.permits import TRANSACTION_LIMIT, PermitWalk
from tools_app.core import clock

pytestmark = pytest.mark.django_db
QUICK = settings(max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))


class RolledBack(RuleBasedStateMachine):
    """Each example runs in a transaction of its own that is rolled back."""

    def __init__(self) -> None:
        super().__init__()
        self._atomic = transaction.atomic()
        self._atomic.__enter__()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._atomic.__exit__(None, None, None)


class PermitMachine(RolledBack):
    """Permits and ledger of one golem."""

    def __init__(self) -> None:
        super().__init__()
        sync_builtins()
        self.walk = PermitWalk(now=clock.now())

    @rule(amount=st.sampled_from([0, 1, 150, TRANSACTION_LIMIT - 1, TRANSACTION_LIMIT, TRANSACTION_LIMIT + 1]))
    def reserve(self, amount: int) -> None:
        self.walk.reserve(amount)

    @precondition(lambda self: self.walk.reference.claims)
    @rule(data=st.data())
    def start(self, data: Any) -> None:
        self.walk.start(self._pick(data))

    @precondition(lambda self: self.walk.reference.claims)
    @rule(data=st.data(), blocks=st.booleans())
    def end(self, data: Any, blocks: bool) -> None:
        self.walk.end(self._pick(data), blocks=blocks)

    @precondition(lambda self: self.walk.reference.claims)
    @rule(data=st.data(), spent=st.integers(0, 1_000))
    def settle(self, data: Any, spent: int) -> None:
        self.walk.settle(self._pick(data), spent)

    @precondition(lambda self: self.walk.reference.claims)
    @rule(data=st.data())
    def reopen(self, data: Any) -> None:
        self.walk.reopen(self._pick(data))

    @rule(delta=st.sampled_from([59_999, 60_000, 60_001, 86_399_999, 86_400_000]))
    def pass_time(self, delta: int) -> None:
        self.walk.pass_time(timedelta(milliseconds=delta))

    @invariant()
    def rows_and_reference_agree(self) -> None:
        self.walk.check()

    def _pick(self, data: Any) -> Any:
        return data.draw(st.sampled_from(list(self.walk.reference.claims)))


class NonceMachine(RolledBack):
    """Nonces of one account, with permits that come, give up and get mined."""

    def __init__(self) -> None:
        super().__init__()
        self.golem = make_golem(owner=make_owner(name=f"nonces-{uuid4().hex[:8]}"))
        self.mined = 0
        self.held: dict[Any, list[int]] = {}

    @rule(count=st.integers(1, 3))
    def reserve(self, count: int) -> None:
        permit = ActionPermit.objects.create(
            golem=self.golem,
            tool_name="t",
            action_type="t",
            venue="t",
            chain_id=1,
            action_hash=uuid4().hex,
            action_class="REBALANCE",
            risk_tier="STANDARD",
            plan_hash="0x",
            policy_hash="0x",
            expires_at=clock.now(),
        )
        nonces = self._reserve(permit.pk, count)
        assert nonces == list(range(nonces[0], nonces[0] + count))
        assert nonces[0] >= self.mined
        assert not {n for held in self.held.values() for n in held} & set(nonces)
        self.held[permit.pk] = nonces
        assert self._reserve(permit.pk, count) == nonces

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def give_up(self, data: Any) -> None:
        permit = data.draw(st.sampled_from(list(self.held)))
        assert abandon_nonces(permit_id=permit) == len(self.held.pop(permit))

    @invariant()
    def every_nonce_below_one_in_use_is_held_or_a_known_hole(self) -> None:
        used = {n for held in self.held.values() for n in held}
        holes = list_holes(chain_id=1, address="0xA", mined_nonce=self.mined)
        assert not used & set(holes)
        if used:
            assert sorted(used | set(holes)) == list(range(self.mined, max(used) + 1))
        assert NonceReservation.objects.filter(permit__isnull=False).count() == len(used)

    def _reserve(self, permit_id: Any, count: int) -> list[int]:
        return reserve_nonces(permit_id=permit_id, chain_id=1, address="0xA", count=count, pending_nonce=self.mined)


# A walk is many of the product's transactions in one, which is rolled back.
@pytest.mark.locks_at_will
@pytest.mark.parametrize("machine", [PermitMachine, NonceMachine])
def test_rows_walk_in_step_with_a_naive_reference(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=QUICK)
    assert not ActionPermit.objects.exists()
