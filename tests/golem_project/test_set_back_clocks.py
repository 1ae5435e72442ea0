"""A clock that goes forward and back stops nothing, and nothing lives longer than it may."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks
from eth_account import Account
from eth_account.messages import encode_defunct

from archetypes_app.actions.invite_person import invite_person
from archetypes_app.models import Invitation
from golem_project.a2a.errors import ChallengeRefused
from golem_project.a2a.visitor_sign_in import make_challenge, open_visit, show_challenge
from golem_project.celery import app
from golem_project.runtime.beat_schedule import LOOK_EVERY_MS, BeatEntry, Schedule
from golem_project.runtime.future_times import ENDS, HAPPENED, LEASES, NEXT, TimeColumn, mend_future_rows
from permits_app.actions.expire import expire_lapsed
from permits_app.approval_errors import PasskeyRefused
from permits_app.approvals import passkey_challenges
from permits_app.models import ActionPermit
from tests import factories
from tests.golem_project.pi.conftest import Agent, MakeAgent, assert_problem
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.live_golem import LiveGolem
from tests.waiting_tasks import drop_waiting_tasks
from tools_app.core import clock, liveness

JUMPS = pytest.mark.parametrize("jump", [timedelta(hours=2), timedelta(days=1)], ids=["two hours", "a day"])
TASK = "permits_app.tasks.sweep_permits_task"


class Wall:
    """The wall clock of this process, which a test sets; the other clock goes on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = timedelta()
        real = clock.now
        monkeypatch.setattr(clock, "now", lambda: real() + self.ahead)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    return Wall(monkeypatch)


@pytest.fixture
def alive() -> None:
    # Tests before left theirs, and readiness names what waits for long.
    drop_waiting_tasks()
    for name in (liveness.BEAT, *liveness.list_queues()):
        liveness.beat(name, now=clock.now())


def make_task(name: str, *, ran_at: datetime) -> PeriodicTask:
    each_second = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.SECONDS)
    return PeriodicTask.objects.create(name=name, task=TASK, interval=each_second, last_run_at=ran_at)


@JUMPS
@pytest.mark.django_db(transaction=True)
def test_a_task_that_ran_in_a_future_that_did_not_come_is_due_again_within_its_interval(jump: timedelta) -> None:
    make_task("sweep-now", ran_at=clock.now() + jump)
    entry = Schedule(app=app, lazy=True).schedule["sweep-now"]
    is_due, seconds = entry.is_due()
    assert not is_due and seconds <= 1
    entry.last_run_at -= timedelta(seconds=2)
    assert entry.is_due().is_due


@JUMPS
@pytest.mark.django_db(transaction=True)
def test_a_beat_that_runs_while_its_clock_goes_back_makes_its_heap_anew(
    wall: Wall, jump: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task("sweep-now", ran_at=clock.now())
    schedule = Schedule(app=app, lazy=True)
    sent: list[str] = []
    monkeypatch.setattr(Schedule, "apply_entry", lambda self, entry, producer=None: sent.append(entry.name))
    wall.ahead = jump
    schedule.tick()
    wall.ahead = timedelta()
    wait = schedule.tick()
    assert wait is not None and wait <= liveness.EVERY_SECONDS
    heap: Any = schedule._heap
    assert all(event.time < clock.now().timestamp() + 60 for event in heap)


@JUMPS
@pytest.mark.django_db(transaction=True)
def test_a_rare_task_that_ran_in_a_future_that_did_not_come_is_written_down_as_of_now(
    wall: Wall, jump: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next run is an hour away: nothing else would bring its row back before."""
    each_hour = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.HOURS)
    task = PeriodicTask.objects.create(name="rare", task=TASK, interval=each_hour, last_run_at=clock.now())
    monkeypatch.setattr(BeatEntry, "_default_now", lambda self: clock.now())
    monkeypatch.setattr(Schedule, "apply_entry", lambda self, entry, producer=None: None)
    schedule = Schedule(app=app, lazy=True)
    schedule.tick()
    wall.ahead = jump
    schedule.reserve(schedule.schedule["rare"])
    wall.ahead = timedelta()
    # It is written down between two looks, after the clock came back and before anybody noticed.
    schedule.sync()
    task.refresh_from_db()
    assert task.last_run_at <= clock.now() + clock.AHEAD
    # A row that was written meanwhile is brought back by the next look, and by a beat that starts.
    for follower in (schedule, Schedule(app=app, lazy=True)):
        PeriodicTask.objects.filter(pk=task.pk).update(last_run_at=clock.now() + jump)
        follower._offset, follower._schedule = None, None
        follower._initial_read = True
        follower.tick()
        task.refresh_from_db()
        assert task.last_run_at <= clock.now() + clock.AHEAD


@pytest.mark.django_db(transaction=True)
def test_a_change_of_a_schedule_is_seen_though_the_one_before_was_written_in_the_future(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_ms = 5_000.0
    monkeypatch.setattr(clock, "monotonic_ms", lambda: now_ms)
    make_task("first", ran_at=clock.now())
    PeriodicTasks.objects.update_or_create(ident=1, defaults={"last_update": clock.now() + timedelta(hours=2)})
    schedule = Schedule(app=app, lazy=True)
    assert "first" in schedule.schedule
    schedule.schedule_changed()
    make_task("second", ran_at=clock.now())
    now_ms += LOOK_EVERY_MS + 1
    assert "second" in schedule.schedule


@pytest.mark.parametrize("column", [*HAPPENED, *NEXT, *LEASES, *ENDS], ids=lambda each: f"{each.model}.{each.name}")
def test_what_is_brought_back_is_a_time_of_a_table_that_is_there(column: TimeColumn) -> None:
    assert apps.get_model(column.model)._meta.get_field(column.name).get_internal_type() == "DateTimeField"


@JUMPS
def test_a_permit_under_way_is_free_for_another_worker_though_its_lease_is_of_the_future(
    shared_golem: LiveGolem, jump: timedelta
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    soon, late = clock.now() + timedelta(seconds=30), clock.now() + jump
    rows = ActionPermit.objects.filter(pk=permit_id)
    rows.update(lease_expires_at=late, updated_at=late, committing_at=late)
    assert mend_future_rows(now=clock.now()) == 3
    permit = rows.get()
    times: list[Any] = [permit.lease_expires_at, permit.updated_at, permit.committing_at]
    assert max(times) <= clock.now()
    rows.update(lease_expires_at=soon)
    mend_future_rows(now=clock.now())
    assert rows.get().lease_expires_at == soon, "a worker who is alive lost its lease"


@pytest.mark.parametrize(
    ("age", "is_mended"), [(timedelta(days=7, minutes=-1), True), (timedelta(days=7, minutes=1), False)]
)
def test_times_of_permits_that_ended_are_brought_back_for_seven_days(
    shared_golem: LiveGolem, age: timedelta, is_mended: bool
) -> None:
    permit_id, late = shared_golem.preview()["permit_id"], clock.now() + timedelta(days=30)
    rows = ActionPermit.objects.filter(pk=permit_id)
    rows.update(status="COMMITTED", created_at=clock.now() - age, updated_at=late)
    assert (mend_future_rows(now=clock.now()) > 0) is is_mended
    assert (rows.get().updated_at < late) is is_mended


@pytest.mark.django_db
def test_who_may_not_type_a_code_for_a_moment_waits_no_longer_because_a_clock_went_back() -> None:
    from django_otp.plugins.otp_totp.models import TOTPDevice

    person = get_user_model().objects.create(username="ana")
    device = TOTPDevice.objects.create(user=person, throttling_failure_timestamp=clock.now() + timedelta(hours=2))
    key_time = clock.now() - timedelta(hours=3)
    untouched = TOTPDevice.objects.create(user=person, name="b", throttling_failure_timestamp=key_time)
    assert mend_future_rows(now=clock.now()) == 1
    device.refresh_from_db()
    untouched.refresh_from_db()
    assert device.throttling_failure_timestamp <= clock.now()
    assert untouched.throttling_failure_timestamp == key_time


@pytest.mark.django_db
def test_a_process_whose_own_clock_is_wrong_brings_nothing_back(wall: Wall) -> None:
    from django_otp.plugins.otp_totp.models import TOTPDevice

    person = get_user_model().objects.create(username="ana")
    TOTPDevice.objects.create(user=person, throttling_failure_timestamp=clock.now() + timedelta(hours=2))
    wall.ahead = timedelta(hours=-2)
    assert mend_future_rows(now=clock.now()) == 0


def test_a_clock_that_was_set_back_is_noticed_once_and_one_that_went_forward_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offset = 0.0
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + offset)
    clock.now()
    clock.take_set_back()
    offset = 7_200.0
    clock.now()
    assert not clock.take_set_back()
    offset = 0.0
    clock.now()
    assert clock.take_set_back() and not clock.take_set_back()


@JUMPS
def test_a_permit_made_before_a_clock_went_back_is_over_at_once(
    shared_golem: LiveGolem,
    wall: Wall,
    jump: timedelta,
) -> None:
    wall.ahead = jump
    permit_id = shared_golem.preview()["permit_id"]
    wall.ahead = timedelta()
    live = Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())
    assert_problem(live.post("commit_action", {"permit_id": permit_id}), 409, "PERMIT_EXPIRED")
    assert ActionPermit.objects.get(pk=permit_id).status == "EXPIRED"


@JUMPS
def test_the_sweep_ends_permits_of_a_future_that_did_not_come_and_frees_what_they_reserved(
    shared_golem: LiveGolem, wall: Wall, jump: timedelta
) -> None:
    wall.ahead = jump
    permit_id = shared_golem.preview()["permit_id"]
    wall.ahead = timedelta()
    kept = shared_golem.preview()["permit_id"]
    expire_lapsed(golem_id=None, now=clock.now())
    states = dict(ActionPermit.objects.filter(pk__in=[permit_id, kept]).values_list("pk", "status"))
    assert {str(pk): status for pk, status in states.items()} == {permit_id: "EXPIRED", kept: "CREATED"}


def ask_ready() -> dict[str, Any]:
    found: dict[str, Any] = Client().get("/readyz").json()
    return found


def list_stuck() -> list[str]:
    return [each["what"] for each in ask_ready()["stuck"]]


@pytest.mark.django_db
def test_readiness_says_that_beat_is_silent_within_a_minute_and_forgets_it_when_it_is_not(alive: None) -> None:
    assert "beat" not in list_stuck()
    liveness.beat(liveness.BEAT, now=clock.now() - timedelta(seconds=59))
    ready = ask_ready()
    assert ready["degraded"] and [each["what"] for each in ready["stuck"]][:1] == ["beat"]
    assert "no heartbeat" in ready["stuck"][0]["reason"]
    liveness.beat(liveness.BEAT, now=clock.now())
    assert "beat" not in list_stuck()


@pytest.mark.parametrize("queue", liveness.list_queues())
@pytest.mark.django_db
def test_readiness_names_each_queue_that_nobody_takes_from(alive: None, queue: str) -> None:
    liveness.beat(queue, now=clock.now() - timedelta(seconds=59))
    assert [each for each in list_stuck() if each.startswith("queue")] == [queue]


@JUMPS
@pytest.mark.django_db
def test_a_sign_of_life_from_the_future_is_none(alive: None, jump: timedelta) -> None:
    liveness.beat(liveness.BEAT, now=clock.now() + jump)
    assert "beat" in list_stuck()


@JUMPS
@pytest.mark.django_db
def test_a_server_whose_own_clock_is_wrong_is_not_ready_and_says_so(alive: None, wall: Wall, jump: timedelta) -> None:
    for ahead in (jump, -jump):
        wall.ahead = ahead
        ready = ask_ready()
        check = next(each for each in ready["checks"] if each["name"] == "clock")
        assert not ready["ready"] and not check["ok"] and "database's clock" in check["detail"]
    wall.ahead = timedelta()
    assert next(each for each in ask_ready()["checks"] if each["name"] == "clock")["ok"]


@pytest.mark.django_db
def test_the_overview_says_what_is_silent(alive: None) -> None:
    operator = get_user_model().objects.create_superuser(username="root", password="x")
    browser = Client()
    browser.force_login(operator)
    assert "scheduled work" not in browser.get(reverse("admin:index")).content.decode()
    liveness.beat(liveness.BEAT, now=clock.now() - timedelta(minutes=5))
    page = browser.get(reverse("admin:index")).content.decode()
    assert "scheduled work" in page and "no heartbeat, sweep, reconciler or webhook begins" in page


def test_the_signs_of_life_are_asked_of_every_queue_there_is() -> None:
    sent = {
        entry["options"]["queue"]
        for name, entry in app.conf.beat_schedule.items()
        if entry["task"] == "tools_app.tasks.note_pulse_task" and name.startswith("pulse-")
    }
    assert {f"queue {queue}" for queue in sent} == set(liveness.list_queues())


@JUMPS
@pytest.mark.django_db
def test_a_strangers_challenge_and_visit_of_the_future_are_over_and_keep_no_other_stranger_waiting(
    make_agent: MakeAgent, wall: Wall, jump: timedelta, settings: Any
) -> None:
    settings.GOLEM_A2A_MOST_CHALLENGES_PER_MINUTE = 1
    golem, stranger = make_agent().golem, Account.create()
    wall.ahead = jump
    made = make_challenge(golem=golem, who=stranger.address, domain="golem.example", now=clock.now())
    signature = stranger.sign_message(encode_defunct(text=show_challenge(made)["text"])).signature.to_0x_hex()
    wall.ahead = timedelta()
    with pytest.raises(ChallengeRefused, match="over"):
        open_visit(golem_id=golem.pk, nonce=made.nonce, signature=signature, now=clock.now())
    assert make_challenge(golem=golem, who=stranger.address, domain="golem.example", now=clock.now())


@JUMPS
@pytest.mark.django_db
def test_a_passkeys_challenge_of_the_future_is_over(wall: Wall, jump: timedelta) -> None:
    person = get_user_model().objects.create(username="ana")
    asked: dict[str, Any] = {"user": person, "session_key": "s", "action": "approve:1"}
    wall.ahead = jump
    challenge = passkey_challenges.make_challenge(**asked, now=clock.now())
    wall.ahead = timedelta()
    with pytest.raises(PasskeyRefused, match="later than"):
        passkey_challenges.use_up_challenge(**asked, challenge=challenge, now=clock.now())


class Machine:
    """Both clocks of this machine: time that passes, and a wall clock that is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passed, self.wall = 0.0, 0.0
        real, counter = time.time, time.perf_counter
        monkeypatch.setattr(time, "time", lambda: real() + self.passed + self.wall)
        monkeypatch.setattr(time, "perf_counter", lambda: counter() + self.passed)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    clock.now()
    clock.take_set_back()
    with pytest.MonkeyPatch.context() as patched:
        yield Machine(patched)
    clock.now()
    clock.take_set_back()


def test_a_clock_that_is_set_back_a_little_again_and_again_goes_on_until_it_is_noticed(machine: Machine) -> None:
    last = clock.now()
    for _ in range(3):
        machine.wall -= 0.6
        machine.passed += 0.1
        now = clock.now()
        assert timedelta(seconds=0.1) <= now - last < timedelta(seconds=5)
        last = now
    assert not clock.take_set_back()
    machine.wall -= 0.6
    clock.now()
    assert clock.take_set_back(), "together they are seconds"


def test_a_clock_that_was_set_back_a_little_lengthens_no_permit(
    shared_golem: LiveGolem, machine: Machine, settings: Any
) -> None:
    live = Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())
    permit_id = shared_golem.preview()["permit_id"]
    machine.passed = 59.0
    machine.wall = -1.9
    machine.passed = 60.5
    assert_problem(live.post("commit_action", {"permit_id": permit_id}), 409, "PERMIT_EXPIRED")


@pytest.mark.parametrize("seconds", [3, 30, 45])
def test_a_permit_that_is_older_than_the_clock_was_set_back_is_over_with_the_next_request(
    shared_golem: LiveGolem, machine: Machine, seconds: int
) -> None:
    live = Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())
    permit_id = shared_golem.preview()["permit_id"]
    machine.passed = 50.0
    clock.now()
    machine.passed += 1
    machine.wall = float(-seconds)
    # The database's clock is this machine's, which a test cannot set: for the process both went on alike.
    with trusted_clock():
        answer = live.post("commit_action", {"permit_id": permit_id})
    assert_problem(answer, 409, "PERMIT_EXPIRED")
    assert ActionPermit.objects.get(pk=permit_id).spend_entry.state == "RELEASED"
    again = shared_golem.preview()["permit_id"]
    assert ActionPermit.objects.get(pk=again).status == "CREATED"


@contextmanager
def trusted_clock() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("golem_project.runtime.future_times._is_right", lambda now: True)
        yield


@pytest.mark.django_db
def test_challenges_and_visits_that_are_older_than_the_clock_was_set_back_are_over(
    make_agent: MakeAgent, machine: Machine
) -> None:
    golem, stranger = make_agent().golem, Account.create()
    made = make_challenge(golem=golem, who=stranger.address, domain="golem.example", now=clock.now())
    signature = stranger.sign_message(encode_defunct(text=show_challenge(made)["text"])).signature.to_0x_hex()
    person = get_user_model().objects.create(username="ana")
    asked: dict[str, Any] = {"user": person, "session_key": "s", "action": "approve:1"}
    challenge = passkey_challenges.make_challenge(**asked, now=clock.now())
    machine.passed, machine.wall = 20.0, -10.0
    with trusted_clock():
        Client().get("/healthz")
    with pytest.raises(ChallengeRefused):
        open_visit(golem_id=golem.pk, nonce=made.nonce, signature=signature, now=clock.now())
    with pytest.raises(PasskeyRefused):
        passkey_challenges.use_up_challenge(**asked, challenge=challenge, now=clock.now())


@JUMPS
@pytest.mark.django_db
def test_codes_count_again_though_one_of_a_future_that_did_not_come_was_used(jump: timedelta) -> None:
    from django_otp.plugins.otp_totp.models import TOTPDevice

    person = get_user_model().objects.create(username="ana")
    ahead = int((clock.now() + jump).timestamp()) // 30
    device = TOTPDevice.objects.create(user=person, last_t=ahead)
    other = TOTPDevice.objects.create(user=person, name="b", last_t=int(clock.now().timestamp()) // 30 + 1)
    assert mend_future_rows(now=clock.now()) == 1
    was = other.last_t
    device.refresh_from_db()
    other.refresh_from_db()
    assert device.last_t <= int(clock.now().timestamp()) // 30 and other.last_t == was


@JUMPS
@pytest.mark.django_db
def test_an_invitation_made_in_a_future_that_did_not_come_lives_no_longer_than_others(jump: timedelta) -> None:
    owner, now = get_user_model().objects.create(username="ana"), clock.now()
    golem = factories.make_golem(owner=owner)
    invite_person(golem=golem, label="early", invited_by=owner, now=now + jump)
    invite_person(golem=golem, label="now", invited_by=owner, now=now)
    mend_future_rows(now=clock.now())
    ends = Invitation.objects.values_list("expires_at", flat=True)
    assert sorted(at <= clock.now() for at in ends) == [False, True]
