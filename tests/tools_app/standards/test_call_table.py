"""A table of what calls do: every row is read exactly, and what no row says is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.architecture.sources import ROOT, list_sources
from tools_app.chain.abi import encode_call
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

POOL, QUEUE, SOMEBODY, ME = ("0x" + digit * 40 for digit in "1234")
PAY, LEAVE, APPROVE = "function pay()", "function leave(uint256,address)", "function approve(address,uint256)"


class Chain:
    """Chain 7, where nothing is asked."""

    chain_id = 7


def pay(reading: Reading) -> None:
    reading.spend(NATIVE, reading.call.value)
    reading.change("stake", NATIVE, reading.call.value, is_exact=False)


def leave(reading: Reading, raw: int, to: str) -> None:
    reading.check_own(to, "the ether")
    reading.receive(NATIVE, raw, is_open=True)
    reading.change("stake", NATIVE, -raw, "pool", rounding=2)
    reading.state("the account", {"left": str(raw)})


TABLE = CallTable(
    "made_up",
    lambda chain_id: {"pool": POOL, "queue": QUEUE} if chain_id == 7 else None,
    {("pool", PAY): pay, ("queue", LEAVE): leave},
    coin=frozenset({("pool", PAY)}),
    approved=("pool",),
)


def read(to: str, data: bytes, *, value: int = 0, table: CallTable = TABLE) -> Effects:
    into, chain = Effects(), Chain()
    table.read(Call(to, data, value, "a call"), earlier=(), account=ME, chain=chain, into=into)  # type: ignore[arg-type]
    return into


def test_a_row_says_what_its_call_does() -> None:
    paid = read(POOL, encode_call(PAY), value=5)
    assert paid.spends == {NATIVE: 5} and paid.changes == [ChangeRead("made_up", "stake", NATIVE, 5, is_exact=False)]
    left = read(QUEUE, encode_call(LEAVE, 9, ME))
    ref = PositionRef("made_up", "stake", 7, "pool")
    assert (left.receives, left.open_minimums) == ({NATIVE: 9}, {NATIVE})
    assert left.changes == [ChangeRead("made_up", "stake", NATIVE, -9, ref, rounding=2)]
    assert left.statements == [Statement(QUEUE, "the account", "left", "9")]
    assert read(POOL, encode_call(APPROVE, SOMEBODY, 3)).approvals == [(POOL, SOMEBODY, 3)]


@pytest.mark.parametrize(
    ("to", "data", "value"),
    [
        pytest.param(QUEUE, encode_call(PAY), 5, id="a function of another contract"),
        pytest.param(SOMEBODY, encode_call(PAY), 5, id="somebody's contract"),
        pytest.param(POOL, encode_call(PAY), 0, id="no coin where some is taken"),
        pytest.param(QUEUE, encode_call(LEAVE, 9, ME), 1, id="coin where none is taken"),
        pytest.param(QUEUE, encode_call(LEAVE, 9, ME) + b"\0", 0, id="a byte beside the arguments"),
        pytest.param(QUEUE, encode_call(LEAVE, 9, ME)[:-1], 0, id="a byte too few"),
        pytest.param(QUEUE, encode_call(LEAVE, 9, SOMEBODY), 0, id="for somebody else"),
        pytest.param(QUEUE, encode_call(APPROVE, SOMEBODY, 3), 0, id="an allowance where none is given"),
        pytest.param(POOL, encode_call(APPROVE, SOMEBODY, 3), 1, id="an allowance with coin"),
        pytest.param(POOL, b"", 5, id="plain coin"),
    ],
)
def test_what_no_row_says_is_refused(to: str, data: bytes, value: int) -> None:
    with pytest.raises(UnknownCall):
        read(to, data, value=value)


def test_where_a_protocol_is_not_nothing_is_known() -> None:
    nowhere: Any = CallTable("made_up", lambda chain_id: None, TABLE.rows)
    with pytest.raises(UnknownCall):
        read(POOL, encode_call(PAY), value=5, table=nowhere)


def test_no_reader_of_a_folder_takes_arguments_apart_by_itself() -> None:
    """The one place holds the bytes against the arguments: whoever decodes beside it might let some through."""
    readers = [path for path in list_sources() if re.search(r"tools_app/protocols/.*effects\w*\.py$", path)]
    assert len(readers) > 20
    own = [path for path in readers if re.search(r"\bdecode_input\b|AbiDecodeError", (ROOT / path).read_text())]
    assert not own, own
