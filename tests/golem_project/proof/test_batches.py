"""A batch of like things is one test, which tries all of them and names those that do not fit."""

from __future__ import annotations

import pytest

from tests.batches import find_misfits, in_batches


def refuse_odd(number: int) -> None:
    assert number % 2 == 0, "it is odd"


def test_every_thing_is_tried_and_each_misfit_is_named_with_what_was_wrong() -> None:
    wrong = find_misfits([1, 2, 3, 4, 5], refuse_odd, name=lambda number: f"number {number}")
    assert [line.splitlines()[0].partition(" (line")[0] for line in wrong] == ["number 1", "number 3", "number 5"]
    assert all("AssertionError: it is odd" in line for line in wrong)


def test_an_error_that_is_no_assertion_is_a_misfit_as_well() -> None:
    def divide(number: int) -> None:
        assert 1 // number

    assert "ZeroDivisionError" in find_misfits([0], divide)[0]


def test_a_stop_from_the_keyboard_is_no_misfit() -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_misfits([1], stop)


def list_batches(things: list[int], batch: object) -> dict[str, list[int]]:
    @in_batches("number", things, batch=batch)  # type: ignore[arg-type]
    def each(number: int) -> None: ...

    mark = next(mark for mark in each.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    return {param.id: param.values[0] for param in mark.args[1]}


def test_every_thing_is_in_one_batch_by_what_it_is_like_or_by_number() -> None:
    assert list_batches([1, 2, 3, 4, 5], lambda number: "odd" if number % 2 else "even") == {
        "odd": [1, 3, 5],
        "even": [2, 4],
    }
    assert list_batches([1, 2, 3, 4, 5], 2) == {"1": [1, 2], "2": [3, 4], "3": [5]}


@in_batches("number", [2, 4, 6], batch=2)
def test_a_batched_test_may_ask_for_more_than_its_thing(number: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert number % 2 == 0 and tmp_path_factory.getbasetemp().exists()
