"""Permits that end together ask for their episodes together."""

from __future__ import annotations

import threading

from permits_app.permits.memory_requests import Gatherer


def test_the_first_permit_after_a_rest_is_asked_for_at_once_and_those_that_follow_together() -> None:
    gatherer, sent, has_second = Gatherer(), list[list[str]](), threading.Event()

    def send(permit_ids: list[str]) -> None:
        sent.append(permit_ids)
        if len(sent) == 2:
            has_second.set()

    gatherer.add("first", send=send)
    assert sent == [["first"]]
    for name in ("second", "third", "fourth"):
        gatherer.add(name, send=send)
    assert has_second.wait(10)
    assert sent[0] == ["first"]
    assert [name for together in sent[1:] for name in together] == ["second", "third", "fourth"]


def test_none_is_lost_or_asked_for_twice_when_many_end_at_once() -> None:
    gatherer, sent, lock, has_all = Gatherer(), list[str](), threading.Lock(), threading.Event()
    names = [f"{thread}-{number}" for thread in range(8) for number in range(40)]

    def send(permit_ids: list[str]) -> None:
        with lock:
            sent.extend(permit_ids)
            if len(sent) >= len(names):
                has_all.set()

    def add(mine: list[str]) -> None:
        for name in mine:
            gatherer.add(name, send=send)

    threads = [threading.Thread(target=add, args=(names[thread::8],)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert has_all.wait(10)
    assert sorted(sent) == sorted(names)
