"""Logs are read into records whose fields fit the event, and a record that does not fit cannot be made."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tools_app.chain.abi import decode_log, encode_args, event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.toolkit.views import LogEntry

ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
CONTRACT = "0x" + "11" * 20
QUEUED = (
    "event Queued(bytes32 indexed queueRoot, address from, (address token, uint256[] sharesOf) part,"
    " (address token, uint256[] sharesOf)[] parts, bool isLast)"
)
PART = "(address,uint256[])"


@dataclass(frozen=True, slots=True)
class Part:
    """A struct of the event."""

    shares_of: tuple[int, ...]
    token: str


@dataclass(frozen=True, slots=True)
class Queued:
    """The event, all but `isLast`."""

    queue_root: bytes
    from_: str
    part: Part
    parts: tuple[Part, ...]


def _log() -> LogEntry:
    part = (ALICE, [1, 2**255])
    data = encode_args(("address", PART, f"{PART}[]", "bool"), (ALICE, part, [part, (CONTRACT, [])], True))
    return LogEntry(CONTRACT, (event_topic(QUEUED), "0x" + "ab" * 32), "0x" + data.hex(), 1, "0x" + "00" * 32, 0)


def test_a_log_becomes_a_record_with_its_structs_and_lists() -> None:
    part = Part((1, 2**255), ALICE)
    assert AbiEvent(QUEUED, Queued).read(_log()) == Queued(
        b"\xab" * 32, ALICE, part, (part, Part((), "0x1111111111111111111111111111111111111111"))
    )


def test_names_of_all_arguments_are_told_as_before_the_record() -> None:
    told = decode_log(QUEUED, _log())
    assert told is not None
    assert list(told) == ["queueRoot", "from", "part", "parts", "isLast"]
    assert told["parts"][0] == {"token": ALICE, "sharesOf": (1, 2**255)}


def test_a_log_of_another_event_or_another_shape_is_none() -> None:
    event, log = AbiEvent(QUEUED, Queued), _log()
    assert event.read(LogEntry(CONTRACT, (event_topic(QUEUED),), log.data, 1, log.tx_hash, 0)) is None
    assert event.read(LogEntry(CONTRACT, log.topics, "0x", 1, log.tx_hash, 0)) is None
    assert event.list([LogEntry(CONTRACT, ("0x" + "22" * 32,), log.data, 1, log.tx_hash, 0), log]) == [event.read(log)]


@dataclass(frozen=True, slots=True)
class Unnamed:
    """Asks for an argument that the event does not have."""

    amount: int


@dataclass(frozen=True, slots=True)
class Mistyped:
    """Takes an address for a number."""

    from_: int


@dataclass(frozen=True, slots=True)
class OneOfMany:
    """Takes a list for one struct."""

    parts: Part


@pytest.mark.parametrize("record", [Unnamed, Mistyped, OneOfMany])
def test_a_record_whose_fields_do_not_fit_is_no_reader(record: type) -> None:
    with pytest.raises(TypeError, match=record.__name__):
        AbiEvent(QUEUED, record)
