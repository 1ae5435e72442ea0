"""Places by turns: who holds least is next, and a crowd of one keeps nobody else waiting."""

from __future__ import annotations

import threading

import pytest

from tools_app.core.fair_queue_places import NoRoom, Turns, WaitingTurn


class Line:
    """Asks for turns by name and notes the order in which they are granted."""

    def __init__(self, *, places: int = 1, of_one: int = 1, waiting: int = 100, waiting_of_one: int = 50) -> None:
        self.turns = Turns(places=places, of_one=of_one, waiting=waiting, waiting_of_one=waiting_of_one)
        self.granted: list[str] = []

    def ask(self, who: str) -> WaitingTurn:
        turn = self.turns.ask(who, lambda: self.granted.append(who))
        if turn.is_granted:
            self.granted.append(who)
        return turn


def test_who_asks_once_comes_before_the_second_of_a_crowd() -> None:
    line = Line()
    crowd = [line.ask("crowd") for _ in range(10)]
    single = line.ask("single")
    line.turns.leave(crowd[0])
    line.turns.leave(crowd[1])
    assert line.granted == ["crowd", "crowd", "single"]
    assert single.is_granted and not crowd[2].is_granted


def test_two_crowds_take_turns() -> None:
    line = Line()
    waiting = [line.ask(who) for who in "aaaabbbb"]
    for turn in sorted(waiting, key=lambda each: not each.is_granted)[:1]:
        line.turns.leave(turn)
    while len(line.granted) < 8:
        line.turns.leave(next(turn for turn in waiting if turn.is_granted and not turn.has_left))
    assert line.granted == ["a", *"ababab", "b"] or line.granted == ["a", *"abababb"], line.granted


def test_one_has_no_more_than_its_share_though_places_are_free() -> None:
    line = Line(places=3, of_one=2)
    assert [line.ask("one").is_granted for _ in range(3)] == [True, True, False]
    assert line.ask("other").is_granted


def test_beside_another_one_has_less_than_alone() -> None:
    turns = Turns(places=3, of_one=2, waiting=9, waiting_of_one=9, beside_others=1)
    first, second = turns.ask("crowd", lambda: None), turns.ask("crowd", lambda: None)
    assert first.is_granted and second.is_granted
    third = turns.ask("crowd", lambda: None)
    assert turns.ask("single", lambda: None).is_granted
    turns.leave(first)
    assert not third.is_granted, "the crowd has one already"
    turns.leave(second)
    assert third.is_granted


def test_beyond_those_who_may_wait_one_is_refused_and_another_is_not() -> None:
    line = Line(waiting=3, waiting_of_one=2)
    for _ in range(3):
        line.ask("one")
    with pytest.raises(NoRoom) as own:
        line.ask("one")
    assert own.value.of_one
    line.ask("other")
    with pytest.raises(NoRoom) as everybody:
        line.ask("third")
    assert not everybody.value.of_one


def test_who_stops_waiting_is_granted_nothing() -> None:
    line = Line()
    first, second, third = line.ask("a"), line.ask("b"), line.ask("c")
    line.turns.leave(second)
    line.turns.leave(first)
    assert line.granted == ["a", "c"] and third.is_granted and not second.is_granted
    assert line.turns.count_waiting() == 0


def test_a_place_given_back_twice_is_one_place() -> None:
    line = Line()
    first = line.ask("a")
    line.turns.leave(first)
    line.turns.leave(first)
    assert [line.ask("b").is_granted, line.ask("c").is_granted] == [True, False]


def test_threads_that_come_and_go_never_hold_more_than_the_places() -> None:
    turns = Turns(places=3, of_one=2, waiting=1_000, waiting_of_one=1_000)
    lock, at_once, most = threading.Lock(), 0, 0

    def work(who: str) -> None:
        nonlocal at_once, most
        for _ in range(50):
            granted = threading.Event()
            turn = turns.ask(who, granted.set)
            assert turn.is_granted or granted.wait(20)
            with lock:
                at_once += 1
                most = max(most, at_once)
            with lock:
                at_once -= 1
            turns.leave(turn)

    threads = [threading.Thread(target=work, args=(f"owner-{number % 4}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most <= 3 and at_once == 0 and turns.count_waiting() == 0
