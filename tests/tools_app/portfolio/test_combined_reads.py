"""Several reads asked as one give each its own answer, and an answer of another block is never taken for the last."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.chain.abi import encode_args
from tools_app.portfolio.combined_reads import as_one_question
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import Reads

BALANCE = "function balanceOf(address) view returns (uint256)"
HOLDER = "0x" + "11" * 20
TOKENS = ["0x" + f"{place:02x}" * 20 for place in range(1, 4)]
CALLS = [ReadCall(token, BALANCE, (HOLDER,)) for token in TOKENS]


def ask_all() -> Reads[list[ReadOutcome]]:
    return list((yield CALLS))


def play(*answers: Sequence[ReadOutcome]) -> tuple[list[Sequence[ReadCall]], list[ReadOutcome]]:
    """What was asked, batch by batch, and what came of it."""
    reads, rest = as_one_question(ask_all()), list(answers)
    asked: list[Sequence[ReadCall]] = []
    try:
        wanted = next(reads)
        while True:
            asked.append(list(wanted))
            wanted = reads.send(rest.pop(0))
    except StopIteration as ended:
        told: list[ReadOutcome] = ended.value
        return asked, told


def together(*results: tuple[bool, bytes]) -> list[ReadOutcome]:
    return [ReadOutcome(True, (list(results),))]


def word(number: int) -> tuple[bool, bytes]:
    return True, encode_args(("uint256",), (number,))


def test_each_read_gets_its_own_answer_and_the_next_block_its_own() -> None:
    for numbers in ((1, 2, 3), (1, 2, 4), (1, 2, 3)):
        asked, told = play(together(*map(word, numbers)))
        assert [len(batch) for batch in asked] == [1]
        assert [each.values for each in told] == [(number,) for number in numbers]


def test_a_success_and_a_failure_of_the_same_bytes_are_told_apart() -> None:
    reason = bytes.fromhex("08c379a0") + encode_args(("string",), ("closed",))
    assert [each.ok for each in play(together(word(1), (False, reason), word(3)))[1]] == [True, False, True]
    assert play(together(word(1), (False, reason), word(3)))[1][1].revert_reason == "closed"
    told = play(together(word(1), (True, reason), word(3)))[1][1]
    assert told.ok and told.values


def test_what_failed_without_a_reason_is_asked_by_itself() -> None:
    asked, told = play(together(word(1), (False, b""), word(3)), [ReadOutcome(True, (2,))])
    assert asked[1] == [CALLS[1]]
    assert [each.values for each in told] == [(1,), (2,), (3,)]


def test_an_aggregate_that_answers_for_fewer_is_asked_read_by_read() -> None:
    asked, told = play(together(word(1)), [ReadOutcome(True, (number,)) for number in (7, 8, 9)])
    assert asked[1] == CALLS and [each.values for each in told] == [(7,), (8,), (9,)]
