"""Session keys: when one is due, who is asked, how the next one becomes active; and the phase the chain follows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.models import Golem
from permits_app.actions.enforce_phase_on_cage import enforce_phase_on_cage, enforce_phases_on_cages
from permits_app.actions.rotate_session import SessionTerms, find_rotation_reason, rotate_session, rotate_sessions
from permits_app.actions.stage_key import stage_key
from permits_app.actions.top_up_gas import top_up_gas, top_up_keys
from permits_app.custody.session_keys import follow_session
from permits_app.errors import CageWouldRefuse
from permits_app.models import ActionPermit, ChangeRequest, OutboundTransaction, OwnerTransaction, SigningKey
from permits_app.models.approval import ChangeState
from permits_app.models.signing_key import KeyState
from permits_app.policy_cage.contract import Limit, encode_propose, limit_rule
from permits_app.policy_cage.safe_batches import unpack_calls
from permits_app.policy_cage.state import CageState, SessionState
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import USD, CagedGolem
from tools_app.core import clock
from tools_app.core.models import AuditEntry

DAY = 86_400
TERMS = SessionTerms(seconds=7 * DAY, operations=10_000, floor_bps=1_000, lead_seconds=DAY)
FRESH = SessionState(key="0x" + "11" * 20, expires_at=7 * DAY, operations_left=10_000, budget_left=1_000 * USD)


def reason_at(now: int, *, session: SessionState = FRESH, terms: SessionTerms = TERMS) -> str | None:
    return find_rotation_reason(
        session=session, operations=10_000, budget=1_000 * USD, started_at=0, now=now, terms=terms
    )


def test_a_fresh_session_is_not_due() -> None:
    assert reason_at(0) is None
    assert reason_at(6 * DAY - 1) is None


def test_a_session_is_due_a_day_before_its_time_is_over() -> None:
    assert reason_at(6 * DAY) is not None
    longer = replace(FRESH, expires_at=30 * DAY)
    assert reason_at(6 * DAY - 1, session=longer) is None
    assert reason_at(6 * DAY, session=longer) is not None


def test_a_short_session_is_not_due_from_its_first_moment() -> None:
    short = replace(FRESH, expires_at=3_600)
    assert reason_at(1_799, session=short) is None
    assert reason_at(1_800, session=short) is not None


def test_a_session_is_due_when_a_tenth_of_its_operations_or_of_its_budget_is_left() -> None:
    assert reason_at(0, session=replace(FRESH, operations_left=1_001)) is None
    assert "operations" in str(reason_at(0, session=replace(FRESH, operations_left=1_000)))
    assert reason_at(0, session=replace(FRESH, budget_left=100 * USD + 1)) is None
    assert "$100" in str(reason_at(0, session=replace(FRESH, budget_left=100 * USD)))


@given(
    now=st.integers(0, 40 * DAY),
    expires=st.integers(0, 40 * DAY),
    left=st.integers(0, 20_000),
    budget=st.integers(0, 2_000 * USD),
    more=st.integers(0, DAY),
)
def test_what_is_due_stays_due(now: int, expires: int, left: int, budget: int, more: int) -> None:
    session = replace(FRESH, expires_at=expires, operations_left=left, budget_left=budget)
    if reason_at(now, session=session) is not None:
        later = replace(session, operations_left=max(0, left - more), budget_left=max(0, budget - more))
        assert reason_at(now + more, session=later) is not None
    if now >= min(expires, TERMS.seconds) or left == 0:
        assert reason_at(now, session=session) is not None


@pytest.fixture
def caged(live_golem: LiveGolem) -> CagedGolem:
    return CagedGolem(live_golem)


def test_a_due_key_is_followed_by_a_staged_one_and_a_request_that_nobody_is_barred_from(caged: CagedGolem) -> None:
    golem = caged.live.golem
    assert rotate_session(golem_id=golem.pk, now=clock.now()) is None
    later = clock.now() + timedelta(hours=20)
    request = rotate_session(golem_id=golem.pk, now=later)
    assert request is not None and request.state == ChangeState.OPEN
    assert request.barred_owner_id is None and request.asker == "system:server"
    assert rotate_session(golem_id=golem.pk, now=later) is None, "asked once"
    staged = SigningKey.objects.get(golem=golem, state=KeyState.STAGED)
    assert request.change["key"] == staged.address
    asked = OwnerTransaction.objects.get(request=request)
    [_, appointed] = unpack_calls(bytes.fromhex(asked.data[2:])) or ()
    assert appointed.to == caged.mirror.contract
    caged.world.fund(staged.address, 10**18)
    caged.safe.nonce = asked.safe_nonce
    caged.safe.owner_call(asked.to, bytes.fromhex(asked.data[2:]), operation=asked.operation)
    caged.sync()
    staged.refresh_from_db()
    caged.key.refresh_from_db()
    assert (staged.state, caged.key.state) == (KeyState.ACTIVE, KeyState.DROPPED)
    assert staged.granted["operations"] == min(10_000, CageState.from_dict(caged.mirror.state).session.operations_left)
    assert caged.live.commit(caged.live.preview()["permit_id"])["status"] == "COMMITTED"
    told = AuditEntry.objects.filter(golem_id=golem.pk).values_list("event", flat=True)
    assert {"SigningKeyStaged", "SessionKeyActive", "SessionKeyDropped"} <= set(told)


def test_a_refused_rotation_is_not_asked_for_again_at_once(caged: CagedGolem) -> None:
    later = clock.now() + timedelta(hours=20)
    request = rotate_session(golem_id=caged.live.golem.pk, now=later)
    assert request is not None
    ChangeRequest.objects.filter(pk=request.pk).update(state=ChangeState.REJECTED, closed_at=later)
    assert rotate_sessions(now=later + timedelta(minutes=5)) == 0
    assert rotate_sessions(now=later + timedelta(hours=7)) == 1


def test_following_twice_changes_nothing_twice(caged: CagedGolem) -> None:
    assert follow_session(golem_id=caged.live.golem.pk, now=clock.now()) == 0
    other = stage_key(golem=caged.live.golem, reason="x", actor="system:test", now=clock.now())
    assert stage_key(golem=caged.live.golem, reason="y", actor="system:test", now=clock.now()) == other
    assert follow_session(golem_id=caged.live.golem.pk, now=clock.now()) == 0


def test_a_session_that_its_owners_extend_is_followed_to_its_new_end(caged: CagedGolem) -> None:
    golem = caged.live.golem
    end = int(caged.key.granted["expires_at"]) if caged.key.granted else 0
    caged.appoint(caged.key, seconds=6 * DAY, operations=77)
    session = CageState.from_dict(caged.mirror.state).session
    caged.key.refresh_from_db()
    assert session.expires_at > max(end, int(clock.now().timestamp()) + 5 * DAY)
    assert caged.key.state == KeyState.ACTIVE
    assert (caged.key.granted["expires_at"], caged.key.granted["operations"]) == (session.expires_at, 77)
    told = AuditEntry.objects.filter(golem_id=golem.pk, event="SessionKeyActive").latest("pk")
    assert (told.data["address"], told.data["expires_at"]) == (caged.key.address, session.expires_at)
    assert follow_session(golem_id=golem.pk, now=clock.now()) == 0, "once"


def test_a_reorganisation_that_takes_a_session_back_gives_the_former_key_its_place_again(caged: CagedGolem) -> None:
    snapshot = caged.world.rpc.call("evm_snapshot")
    other = stage_key(golem=caged.live.golem, reason="x", actor="system:test", now=clock.now())
    caged.appoint(other)
    caged.key.refresh_from_db()
    assert caged.key.state == KeyState.DROPPED
    assert caged.world.rpc.call("evm_revert", snapshot)
    caged.world.rpc.call("evm_mine")
    caged.sync()
    caged.key.refresh_from_db()
    other.refresh_from_db()
    assert (caged.key.state, other.state) == (KeyState.ACTIVE, KeyState.DROPPED)


def test_a_worse_phase_reaches_the_contract_and_there_it_refuses(caged: CagedGolem) -> None:
    golem = caged.live.golem
    assert enforce_phase_on_cage(golem_id=golem.pk, now=clock.now()) is None
    Golem.objects.filter(pk=golem.pk).update(phase="SURVIVAL")
    permit = enforce_phase_on_cage(golem_id=golem.pk, now=clock.now())
    assert permit is not None and permit.status == "COMMITTED"
    caged.sync()
    assert CageState.from_dict(caged.mirror.state).limit(Limit.PHASE) == 3
    assert enforce_phases_on_cages(now=clock.now()) == 0
    [row] = OutboundTransaction.objects.filter(permit=permit)
    assert (row.sender, row.to) == (caged.key.address, caged.mirror.contract)
    # The server's own phase is put back behind the contract's, and the contract still refuses.
    Golem.objects.filter(pk=golem.pk).update(phase="THRIVING")
    with pytest.raises(CageWouldRefuse) as refused:
        caged.live.preview()
    assert refused.value.data["error"] == "PhaseForbids"


def test_a_session_key_low_on_coins_takes_some_from_its_safe_as_far_as_the_owners_let_it(caged: CagedGolem) -> None:
    golem, engine = caged.live.golem, caged.safe.engine
    most = CageState.from_dict(caged.mirror.state).limit(Limit.MAX_GAS_TOP_UP_WEI)
    assert top_up_gas(golem_id=golem.pk, now=clock.now()) is None, "it has a whole coin"
    engine.give_coins(caged.key.address, most // 10)
    assert top_up_gas(golem_id=golem.pk, now=clock.now()) is None, "its Safe has none"
    engine.give_coins(caged.safe.address, 10**18)
    permit = top_up_gas(golem_id=golem.pk, now=clock.now())
    assert permit is not None and permit.status == "COMMITTED"
    assert engine.balance(caged.safe.address) == 10**18 - most // 2
    assert engine.balance(caged.key.address) > most // 2
    [row] = OutboundTransaction.objects.filter(permit=permit)
    assert (row.sender, row.to) == (caged.key.address, caged.mirror.contract)
    # Nobody does it twice before the mirror has seen it, and never beyond what a day may see.
    engine.give_coins(caged.key.address, most // 10)
    assert top_up_keys(now=clock.now()) == 0
    for told in (1, 0):
        caged.sync()
        assert top_up_keys(now=clock.now()) == told
        engine.give_coins(caged.key.address, most // 10)
    assert engine.balance(caged.safe.address) == 10**18 - most // 2 * 2
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="CageGasToppedUp").count() == 2


def test_no_coins_for_gas_are_taken_where_the_owners_give_none(caged: CagedGolem) -> None:
    caged.safe.owner_call(caged.mirror.contract, encode_propose([limit_rule(Limit.MAX_GAS_TOP_UP_WEI, 0)]))
    caged.sync()
    caged.safe.engine.give_coins(caged.safe.address, 10**18)
    caged.safe.engine.give_coins(caged.key.address, 0)
    assert top_up_gas(golem_id=caged.live.golem.pk, now=clock.now()) is None


def test_a_phase_that_got_better_is_not_the_session_keys_to_tell(caged: CagedGolem) -> None:
    golem = caged.live.golem
    Golem.objects.filter(pk=golem.pk).update(phase="DEFENSIVE")
    assert enforce_phase_on_cage(golem_id=golem.pk, now=clock.now()) is not None
    caged.sync()
    Golem.objects.filter(pk=golem.pk).update(phase="CAUTIOUS")
    assert enforce_phase_on_cage(golem_id=golem.pk, now=clock.now()) is None
    assert ActionPermit.objects.filter(golem=golem, tool_name="worsen_phase").count() == 1
