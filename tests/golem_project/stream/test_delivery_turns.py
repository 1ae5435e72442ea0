"""Turns: one for a receiver, few for a person, half of them for those who were slow; ended, outlived and passed on."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import connections

from golem_project.embedded.product_process_plans import OUTGOING_QUEUES, OUTGOING_THREADS
from golem_project.settings.celery import CELERY_TASK_ROUTES
from golem_project.stream import deliveries, delivery_turns, webhooks
from golem_project.stream.delivery_turns import DeliveryTurn, Wanting
from golem_project.stream.models import OutgoingTurn, TurnKind, WebhookDelivery
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import emit
from tests.golem_project.stream.test_webhooks import make_endpoint
from tests.receiver import Receiver
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KIND = TurnKind.WEBHOOK
PLACES = settings.GOLEM_OUTGOING_PLACES[KIND]


def make_wanting(person_id: int, count: int = 1) -> list[Wanting]:
    return [Wanting(receiver=uuid4(), person_id=person_id) for _ in range(count)]


def give(wanting: list[Wanting], now: datetime = NOW) -> list[DeliveryTurn]:
    return delivery_turns.give_turns(kind=KIND, wanting=wanting, now=now)


def end(turn: DeliveryTurn, now: datetime = NOW, *, failed: bool = False, was_slow: bool = False) -> None:
    longest = delivery_turns.SLOW_MS + 1 if was_slow else delivery_turns.SLOW_MS
    delivery_turns.end_turn(kind=KIND, turn=turn, now=now, failed=failed, longest_ms=longest)


def receivers(given: list[DeliveryTurn]) -> set[UUID]:
    return {turn.receiver for turn in given}


def test_a_receiver_has_one_turn_until_it_ends_and_then_the_next() -> None:
    wanting = make_wanting(1)
    (turn,) = give(wanting)
    assert give(wanting) == []
    begun = delivery_turns.begin_turn(kind=KIND, turn=turn, now=NOW)
    assert begun is not None
    assert delivery_turns.begin_turn(kind=KIND, turn=turn, now=NOW) is None, "the same task a second time"
    assert delivery_turns.keep_turn(kind=KIND, turn=begun, now=NOW)
    end(begun)
    assert not delivery_turns.keep_turn(kind=KIND, turn=begun, now=NOW)
    assert len(give(wanting)) == 1


def test_a_turn_whose_process_died_is_given_again_when_its_time_is_over() -> None:
    wanting = make_wanting(1)
    (lost,) = give(wanting)
    late = NOW + timedelta(seconds=delivery_turns.LASTS_SECONDS)
    assert give(wanting, late - timedelta(seconds=1)) == []
    (found,) = give(wanting, late)
    assert not delivery_turns.keep_turn(kind=KIND, turn=lost, now=late)
    end(lost, late, failed=True)
    assert delivery_turns.keep_turn(kind=KIND, turn=found, now=late), "the late end of the lost one ends nothing"


def test_a_person_with_many_receivers_leaves_places_to_everybody_else() -> None:
    many, one = make_wanting(1, 20), make_wanting(2)
    first = give(many)
    assert len(first) == max(1, PLACES // 4)
    assert receivers(give([*many, *one])) == {one[0].receiver}


def test_whoever_was_served_least_lately_comes_first() -> None:
    people = [make_wanting(person_id)[0] for person_id in range(1, PLACES + 4)]
    first = give(people)
    assert len(first) == PLACES
    for turn in first:
        end(turn)
    second = give(people, NOW + timedelta(seconds=1))
    unserved = {each.receiver for each in people} - receivers(first)
    assert unserved <= receivers(second)


def test_those_who_were_slow_share_half_of_the_places_and_one_quick_answer_frees_them() -> None:
    slow = [make_wanting(person_id)[0] for person_id in range(1, PLACES + 1)]
    for turn in give(slow):
        end(turn, was_slow=True)
    given = give(slow, NOW + timedelta(seconds=1))
    assert len(given) == PLACES // 2
    quick = [make_wanting(person_id)[0] for person_id in range(100, 100 + PLACES)]
    assert len(give([*slow, *quick], NOW + timedelta(seconds=1))) == PLACES - PLACES // 2
    for turn in given:
        end(turn, NOW + timedelta(seconds=2))
    OutgoingTurn.objects.filter(receiver__in=[each.receiver for each in quick]).delete()
    assert len(give(slow, NOW + timedelta(seconds=3))) == PLACES


def test_failures_in_a_row_are_followed_by_ever_longer_pauses_and_a_success_clears_them() -> None:
    wanting, now, pauses = make_wanting(1), NOW, []
    for _ in range(10):
        (turn,) = give(wanting, now)
        end(turn, now, failed=True)
        row = OutgoingTurn.objects.get()
        assert row.not_before is not None
        assert give(wanting, row.not_before - timedelta(milliseconds=1)) == []
        pauses.append((row.not_before - now).total_seconds())
        now = row.not_before
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (5, 300)
    (turn,) = give(wanting, now)
    end(turn, now)
    row = OutgoingTurn.objects.get()
    assert (row.failures, row.not_before) == (0, None)
    (turn,) = give(wanting, now)
    end(turn, now, failed=True)
    assert OutgoingTurn.objects.get().not_before == now + timedelta(seconds=5)


def test_what_a_clock_that_was_set_back_left_in_the_future_holds_nothing_up() -> None:
    wanting = make_wanting(1)
    ahead = NOW + timedelta(hours=2)
    (turn,) = give(wanting, ahead)
    (again,) = give(wanting)
    assert again.turn_id != turn.turn_id
    end(again, ahead, failed=True)
    assert len(give(wanting)) == 1


def test_eight_that_give_turns_at_once_give_each_place_and_each_receiver_once() -> None:
    wanting = [each for person_id in range(1, 11) for each in make_wanting(person_id, 3)]
    given: list[DeliveryTurn] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait(30)
        given.extend(give(wanting))
        connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(given) == len(receivers(given)) == PLACES


def test_turns_that_say_nothing_any_more_are_forgotten() -> None:
    give(make_wanting(1))
    assert delivery_turns.forget_turns(now=NOW + timedelta(hours=24)) == 0
    assert delivery_turns.forget_turns(now=NOW + timedelta(hours=24, milliseconds=1)) == 1


def test_there_is_a_thread_for_each_place_and_a_queue_for_each_kind() -> None:
    assert sum(settings.GOLEM_OUTGOING_PLACES.values()) == OUTGOING_THREADS
    assert set(settings.GOLEM_OUTGOING_PLACES) == set(TurnKind.values)
    routed = {route["queue"] for route in CELERY_TASK_ROUTES.values()}
    assert set(OUTGOING_QUEUES.split(",")) <= routed


def test_a_turn_delivers_all_that_is_due_one_after_the_other_and_stops_where_one_fails(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint, _ = make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, *range(7))
    webhooks.spread_events(now=clock.now())
    receiver.statuses = [200, 200, 200, 500]
    (turn,) = delivery_turns.give_turns(kind=KIND, wanting=deliveries.list_wanting(now=clock.now()), now=clock.now())
    assert turn.receiver == endpoint.pk
    assert deliveries.take_turn(turn=turn, read_clock=clock.now) == 3
    assert len(receiver.got) == 4
    assert deliveries.take_turn(turn=turn, read_clock=clock.now) == 0, "the same task a second time"
    assert len(receiver.got) == 4
    assert OutgoingTurn.objects.get().failures == 1
    assert WebhookDelivery.objects.filter(state="WAITING").count() == 4


def test_four_tasks_of_one_turn_send_one_request_at_a_time(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, *range(10))
    webhooks.spread_events(now=clock.now())
    (turn,) = delivery_turns.give_turns(kind=KIND, wanting=deliveries.list_wanting(now=clock.now()), now=clock.now())

    def work() -> None:
        deliveries.take_turn(turn=turn, read_clock=clock.now)
        connections.close_all()

    receiver.before_answer = lambda: threading.Event().wait(0.02)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(receiver.got) == 10
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 10
    assert receiver.most_at_once == 1
