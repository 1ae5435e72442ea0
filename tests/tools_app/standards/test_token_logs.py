"""Logs are read in the exact shape of their standard, or not at all; whatever a contract emits, nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from permits_app.execution.balance_evidence import sum_transfers
from tests.permits_app.execution.receipts import make_receipt
from tools_app.chain.abi import checksum, event_topic
from tools_app.standards import erc20
from tools_app.standards.token_logs import (
    TRANSFER_BATCH,
    TRANSFER_SINGLE,
    TokenMoved,
    is_garbled,
    read_transfers,
)
from tools_app.toolkit.views import LogEntry

TRANSFER = event_topic(erc20.TRANSFER_EVENT)
ME = checksum("0x" + "ab" * 20)
OTHER = checksum("0x" + "cd" * 20)
TOKEN = checksum("0x" + "ef" * 20)


def word(value: int | str) -> str:
    number = int(value, 16) if isinstance(value, str) else value
    return f"0x{number:064x}"


def log(*topics: str, data: str = "0x") -> LogEntry:
    return LogEntry(TOKEN, topics, data, 1, "0x", 0)


DIRTY = "0x" + "ff" * 12 + "ab" * 20


def test_a_movement_is_read_in_the_shape_of_erc_20_and_of_erc_721() -> None:
    assert read_transfers(log(TRANSFER, word(OTHER), word(ME), data=word(7))) == (TokenMoved(TOKEN, OTHER, ME, 7),)
    single = read_transfers(log(TRANSFER, word(OTHER), word(ME), word(9)))
    assert single == (TokenMoved(TOKEN, OTHER, ME, 1, 9),)


def test_a_movement_among_many_kinds_says_that_no_balance_tells_of_it() -> None:
    moved = log(event_topic(TRANSFER_SINGLE), word(ME), word(OTHER), word(ME), data=word(5) + word(6)[2:])
    words = "".join(word(each)[2:] for each in (64, 128, 1, 5, 1, 6))
    many = log(event_topic(TRANSFER_BATCH), word(ME), word(OTHER), word(ME), data="0x" + words)
    for each in (moved, many):
        assert read_transfers(each) == (TokenMoved(TOKEN, OTHER, ME, 6, 5, True),)
        assert sum_transfers(receipts=[make_receipt(each)], account=ME).unreadable == (TOKEN,)


@pytest.mark.parametrize(
    "claim",
    [
        log(TRANSFER, word(OTHER), word(ME), data="0x" + "11" * 4_000),
        log(TRANSFER, word(OTHER), word(ME), data="0x" + "11" * 31),
        log(TRANSFER, word(OTHER), word(ME), data="0x" + "11" * 33),
        log(TRANSFER, word(OTHER), word(ME)),
        log(TRANSFER, word(OTHER), DIRTY, data=word(7)),
        log(TRANSFER, DIRTY, word(ME), data=word(7)),
        log(TRANSFER, word(OTHER), word(ME), word(9), data=word(7)),
        log(TRANSFER, word(ME), data=word(7)),
    ],
)
def test_a_claim_in_any_other_shape_moves_nothing_and_is_told(claim: LogEntry) -> None:
    assert read_transfers(claim) == ()
    assert is_garbled(claim, ME)
    told = sum_transfers(receipts=[make_receipt(claim)], account=ME)
    assert (told.moved, told.unreadable) == ({}, (TOKEN,))
    assert not is_garbled(claim, OTHER) or word(OTHER) in claim.topics


@given(
    topics=st.lists(
        st.one_of(
            st.sampled_from([TRANSFER, event_topic(TRANSFER_SINGLE), event_topic(TRANSFER_BATCH), word(ME), DIRTY]),
            st.binary(min_size=32, max_size=32).map(lambda raw: "0x" + raw.hex()),
            st.text(max_size=70),
        ),
        max_size=5,
    ),
    data=st.one_of(
        st.binary(max_size=300).map(lambda raw: "0x" + raw.hex()),
        st.lists(st.sampled_from([0, 1, 32, 64, 2**255, 2**256 - 1]), max_size=9).map(
            lambda words: "0x" + "".join(word(each)[2:] for each in words)
        ),
        st.text(max_size=70),
    ),
)
@example(topics=[TRANSFER, word(OTHER), word(ME)], data="0x" + "ff" * 4_000)
@settings(deadline=None)
def test_no_log_makes_reading_fail_and_no_amount_is_more_than_a_word(topics: list[str], data: str) -> None:
    claim = log(*topics, data=data)
    for moved in read_transfers(claim):
        assert 0 <= moved.amount < 2**256
    told = sum_transfers(receipts=[make_receipt(claim)], account=ME)
    assert all(abs(amount) < 2**256 and str(amount) for amount in told.moved.values())
