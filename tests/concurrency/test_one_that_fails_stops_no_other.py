"""A sweep goes on past a row it cannot do anything with: a key that is gone, an error nobody foresaw."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from archetypes_app.models import Golem
from golem_project.heartbeat.duties import run as duties
from permits_app.actions import (
    carry_out_deaths,
    check_pending_requests,
    check_received_rights,
    check_signed_promises,
    enforce_phase_on_cage,
    expire,
    rotate_session,
    sweep_changes,
    sync_policy_cage,
)
from permits_app.custody import session_keys as follow_session
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.halts.deaths import announce_death
from permits_app.models import (
    CageMirror,
    ChainWatch,
    ChangeRequest,
    OutboundTransaction,
    PendingRequest,
    ReceivedRight,
    SignedPromise,
    SigningKey,
)
from permits_app.models.permit import PermitStatus
from permits_app.models.wallet import WalletKind
from permits_app.permits.row_locks import lock_request
from tests import factories
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.passing_time import let_pass_until
from tests.permits_app.execution.chain_tricks import mining_paused
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.isolated_sweeps import one_by_one


class Odd(GolemError):
    code = "ODD"


def test_what_fails_is_told_and_the_rest_is_done(caplog: pytest.LogCaptureFixture) -> None:
    def half(number: int) -> int:
        if number == 3:
            raise Odd("three is odd")
        return 12 // number

    assert list(one_by_one([0, 1, 3, 4], half, what="number")) == [12, 3]
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert told == [("ERROR", "number 0 failed unexpectedly"), ("WARNING", "number 3 waits: ODD")]


def test_what_concerns_all_of_them_is_raised_at_once() -> None:
    seen = []

    def look(number: int) -> None:
        seen.append(number)
        raise Odd("the node is away")

    with pytest.raises(Odd):
        list(one_by_one([1, 2], look, what="number", raises=(Odd,)))
    assert seen == [1]


@pytest.fixture
def pair(transactional_db: None, local_chain: World) -> list[LiveGolem]:
    """Two golems of two owners, the one that a sweep comes to first, first."""
    made = [make_live_golem(local_chain, name=name, owner_name=f"owner-{name}") for name in ("a", "b")]
    return sorted(made, key=lambda each: each.golem.address)


def test_an_account_whose_key_is_away_leaves_no_other_one_stuck(pair: list[LiveGolem]) -> None:
    first, second = pair
    permits = [each.preview()["permit_id"] for each in pair]
    with mining_paused(first.world), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        for golem, permit_id in zip(pair, permits, strict=True):
            golem.start(permit_id)
            golem.work(permit_id)
            assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
        SigningKey.objects.filter(address=first.golem.address).update(holder="ELSEWHERE")
        done = reconcile_transactions(now=clock.now() + timedelta(seconds=91))
    assert done["sped_up"] == 1
    raised = OutboundTransaction.objects.filter(permit_id=permits[1], call_index=0)
    assert raised.count() == 2
    second.work(permits[1])
    assert second.permit(permits[1]).status == PermitStatus.COMMITTED


def make_rows(golem: Golem) -> None:
    """One of everything that is swept, due now."""
    long_ago = clock.now() - timedelta(days=30)
    wallet = factories.make_wallet(golem=golem)
    type(wallet).objects.filter(pk=wallet.pk).update(kind=WalletKind.POLICY_CAGE)
    factories.make_cage(golem=golem)
    factories.make_cage_mirror(golem=golem)
    permit = factories.make_permit(golem=golem, now=long_ago)
    request = factories.make_pending_request(permit=permit)
    type(request).objects.filter(pk=request.pk).update(next_check_at=long_ago)
    promise = factories.make_signed_promise(permit=permit)
    type(promise).objects.filter(pk=promise.pk).update(next_check_at=long_ago)
    right = factories.make_received_right(golem=golem)
    type(right).objects.filter(pk=right.pk).update(next_look_at=long_ago)
    announce_death(golem=golem, reason="over", actor="owner:1", due_at=clock.now(), now=clock.now())


SWEEPS: list[tuple[Any, str, str]] = [
    (follow_session, "follow_sessions", "follow_session"),
    (enforce_phase_on_cage, "enforce_phases_on_cages", "enforce_phase_on_cage"),
    (rotate_session, "rotate_sessions", "rotate_session"),
    (sync_policy_cage, "sync_policy_cages", "sync_policy_cage"),
    (carry_out_deaths, "carry_out_deaths", "carry_out_death"),
    (expire, "expire_lapsed", "expire_permit"),
    (check_pending_requests, "check_pending_requests", "_look_at"),
    (check_signed_promises, "check_signed_promises", "look_at"),
    (check_received_rights, "check_received_rights", "look_at"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("module", "sweep", "step"), SWEEPS, ids=[sweep for _, sweep, _ in SWEEPS])
def test_what_nobody_foresaw_in_one_row_keeps_no_other_from_its_turn(
    monkeypatch: pytest.MonkeyPatch, module: Any, sweep: str, step: str
) -> None:
    for name in ("a", "b", "c"):
        make_rows(factories.make_golem(owner=factories.make_owner(name=name), name=name))
    met: list[Any] = []

    def fail_first(*given: Any, **named: Any) -> int:
        met.append((given, named))
        if len(met) == 1:
            raise ZeroDivisionError
        return 0

    monkeypatch.setattr(module, step, fail_first)
    whose = {"golem_id": None} if sweep == "expire_lapsed" else {}
    getattr(module, sweep)(now=clock.now(), **whose)
    assert len(met) == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("module", "sweep", "step"),
    [
        each
        for each in SWEEPS
        if each[1] in ("sync_policy_cages", "check_pending_requests", "check_signed_promises", "check_received_rights")
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_chain_that_is_silent_is_not_asked_while_others_wait(
    monkeypatch: pytest.MonkeyPatch, module: Any, sweep: str, step: str
) -> None:
    for name in ("a", "b"):
        make_rows(factories.make_golem(owner=factories.make_owner(name=name), name=name))
    elsewhere = Golem.objects.get(name="a")
    CageMirror.objects.filter(cage__golem=elsewhere).update(chain_id=10)
    PendingRequest.objects.filter(golem=elsewhere).update(chain_id=10, expects_chain_id=10)
    SignedPromise.objects.filter(golem=elsewhere).update(chain_id=10)
    ReceivedRight.objects.filter(golem=elsewhere).update(chain_id=10)
    now = clock.now()
    ChainWatch.objects.create(
        chain_id=10, looked_at=now, failing_since=now - timedelta(hours=1), error_code="RPC_TIMEOUT"
    )
    met: list[Any] = []

    def look(*given: Any, **named: Any) -> int:
        met.append(named.get("mirror_id", given))
        return 0

    monkeypatch.setattr(module, step, look)
    getattr(module, sweep)(now=clock.now())
    assert len(met) == 1


@pytest.mark.django_db
def test_a_late_change_that_cannot_be_ended_leaves_the_others_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = factories.make_owner()
    golems = [factories.make_golem(owner=owner, name=name) for name in ("a", "b")]
    rows = [factories.make_change_request(golem=golem) for golem in golems]
    broken = rows[0].golem_id

    def lock(request: ChangeRequest) -> None:
        if request.golem_id == broken:
            raise ZeroDivisionError
        lock_request(request)

    monkeypatch.setattr(sweep_changes, "lock_request", lock)
    assert sweep_changes.time_out_changes(now=let_pass_until(rows[1].deadline_at)) == 1
    assert set(ChangeRequest.objects.values_list("golem_id", "state")) == {
        (broken, "OPEN"),
        (rows[1].golem_id, "EXPIRED"),
    }


@pytest.mark.django_db
def test_a_duty_of_the_heartbeat_that_fails_leaves_those_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*, now: Any) -> int:
        raise ZeroDivisionError

    def tidy(*, now: Any) -> int:
        return 7

    monkeypatch.setattr(duties, "DUTIES", {"first": fail, "second": tidy})
    assert duties.run_duties(now=clock.now()) == {"first": 0, "second": 7}
