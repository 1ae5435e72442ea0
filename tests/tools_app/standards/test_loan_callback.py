"""Steps within a loan are read as they are run; the one contract that runs them is known by its code."""

from __future__ import annotations

import pytest

from golem_project.embedded.world.solidity import load_contract
from tools_app.chain.abi import checksum, decode_input, encode_call
from tools_app.chain.running_code import hash_code
from tools_app.standards.loan_callback import ANNOUNCE, CODE_HASH, is_announced, run_within, unfold
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call

HANDLER, LENDER, OTHER, ACCOUNT = (checksum("0x" + each * 20) for each in ("aa", "bb", "cc", "dd"))
LOAN = "function flashLoan(address,uint256,bytes)"
STEPS = (Call(OTHER, b"\x01\x02\x03\x04", 7, "one"), Call(LENDER, b"", 0, "two"))


def lend(data: bytes) -> Call:
    return Call(LENDER, encode_call(LOAN, OTHER, 1, data), 0, "")


def test_the_code_that_is_trusted_is_the_one_that_is_compiled() -> None:
    assert hash_code(bytes.fromhex(load_contract("LoanCallback").deployed_bytecode.removeprefix("0x"))) == CODE_HASH


def test_steps_are_read_where_they_are_run() -> None:
    announced, asked = run_within(STEPS, handler=HANDLER, account=ACCOUNT, lender=LENDER, ask=lend, label="")
    last = Call(OTHER, b"\x09\x09\x09\x09", 0, "last")
    found = unfold((announced, asked, last))
    assert [(call.to, call.data, call.value) for call in found] == [
        (call.to, call.data, call.value) for call in (announced, *STEPS, asked, last)
    ]
    assert announced.data[-20:] == bytes.fromhex(ACCOUNT[2:])
    _, data = decode_input(ANNOUNCE, announced.data[:-20])
    assert is_announced(data, lender=LENDER, earlier=STEPS + (announced,))
    assert not is_announced(data, lender=OTHER, earlier=(announced,))
    assert not is_announced(data + bytes(32), lender=LENDER, earlier=(announced,))
    assert unfold(STEPS) == STEPS


@pytest.mark.parametrize(
    "words", ["alone", "to another lender", "after something else", "cut short", "and more", "by nobody"]
)
def test_steps_that_are_not_run_as_they_are_announced_are_no_steps(words: str) -> None:
    announced, asked = run_within(STEPS, handler=HANDLER, account=ACCOUNT, lender=LENDER, ask=lend, label="")
    cut = encode_call(ANNOUNCE, LENDER, b"\x01")
    calls = {
        "alone": (announced,),
        "to another lender": (announced, Call(OTHER, asked.data, 0, "")),
        "after something else": (announced, Call(LENDER, b"\x09\x09\x09\x09", 0, ""), asked),
        "cut short": (Call(HANDLER, cut + bytes(20), 0, ""), lend(b"\x01")),
        "by nobody": (Call(HANDLER, announced.data[:-20], 0, ""), asked),
        "and more": (Call(HANDLER, announced.data + bytes(32), 0, ""), asked),
    }[words]
    with pytest.raises(UnknownCall):
        unfold(calls)
