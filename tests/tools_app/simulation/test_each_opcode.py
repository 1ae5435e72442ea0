"""Each opcode that the loop does itself answers and charges as py-evm's own does, at every edge.

The same case runs twice on the same machine: once by our loop, once by py-evm's way of asking each opcode's object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from eth.exceptions import Halt
from eth.vm.logic.invalid import InvalidOpcode

from tests.proof.evm.here import run_case
from tests.tools_app.simulation.machines import make_case
from tools_app.simulation.pyevm import computation as machine

TOP: Final = 1 << 256
EDGES: Final = (0, 1, 2, 30, 31, 32, 255, 256, 0x17F, (1 << 255) - 1, 1 << 255, TOP - 2, TOP - 1)
ONE_NUMBER: Final = {"ISZERO": 0x15, "NOT": 0x19}
TWO_NUMBERS: Final = {
    **{"ADD": 0x01, "MUL": 0x02, "SUB": 0x03, "DIV": 0x04, "SDIV": 0x05, "MOD": 0x06, "SMOD": 0x07, "SIGNEXTEND": 0x0B},
    **{"LT": 0x10, "GT": 0x11, "SLT": 0x12, "SGT": 0x13, "EQ": 0x14, "AND": 0x16, "OR": 0x17, "XOR": 0x18},
    **{"BYTE": 0x1A, "SHL": 0x1B, "SHR": 0x1C, "SAR": 0x1D},
}
THREE_NUMBERS: Final = {"ADDMOD": 0x08, "MULMOD": 0x09}
FROM_NOTHING: Final = {
    **{"ADDRESS": 0x30, "CALLER": 0x33, "CALLVALUE": 0x34, "CALLDATASIZE": 0x36, "RETURNDATASIZE": 0x3D},
    **{"PC": 0x58, "MSIZE": 0x59, "GAS": 0x5A, "PUSH0": 0x5F},
}


def run_plainly(computation: Any) -> None:
    """py-evm's own loop."""
    for opcode in computation.code:
        function = computation.opcodes.get(opcode) or InvalidOpcode(opcode)
        try:
            function(computation)
        except Halt:
            break


def run_on_both(code: str, **case: Any) -> dict[str, Any]:
    """What came of it, after both loops were found to agree."""
    here = run_case(make_case(code, **case))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "run_code", run_plainly)
        there = run_case(make_case(code, **case))
    assert here == there, code
    return here


def push(number: int) -> str:
    return f"7f{number:064x}"


def answer(codes: Sequence[str]) -> str:
    """A program that returns the words which the codes leave, one after the other."""
    kept = "".join(f"{code}61{32 * at:04x}52" for at, code in enumerate(codes))
    return f"{kept}61{32 * len(codes):04x}5ff3"


def list_programs() -> Iterator[tuple[str, str]]:
    for name, op in ONE_NUMBER.items():
        yield name, answer([f"{push(one)}{op:02x}" for one in EDGES])
    for name, op in TWO_NUMBERS.items():
        yield name, answer([f"{push(other)}{push(one)}{op:02x}" for one in EDGES for other in EDGES])
    for name, op in THREE_NUMBERS.items():
        few = (0, 1, 7, 1 << 255, TOP - 1)
        yield (
            name,
            answer([f"{push(a)}{push(b)}{push(c)}{op:02x}" for a in few for b in few for c in few]),
        )
    for name, op in FROM_NOTHING.items():
        yield name, answer([f"{op:02x}", f"{op:02x}"])
    for size in range(1, 33):
        yield f"PUSH{size}", answer([f"{0x5F + size:02x}{'c3' * size}"])
    deep = "".join(f"60{number:02x}" for number in range(1, 18))
    for depth in range(1, 17):
        yield f"DUP{depth}", answer([f"{deep}{0x7F + depth:02x}"])
        yield f"SWAP{depth}", answer([f"{deep}{0x8F + depth:02x}", *[""] * 16])


PROGRAMS: Final = dict(list_programs())


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_opcode_answers_the_same_at_the_edges(name: str) -> None:
    assert run_on_both(PROGRAMS[name], data="c4" * 40, value=3)["succeeded"]


DATA: Final = "".join(f"{number:02x}" for number in range(1, 71))


@pytest.mark.parametrize("place", [0, 1, 31, 32, 39, 69, 70, 71, 1 << 64, TOP - 1])
def test_data_is_read_from_any_place_and_ends_in_zeros(place: int) -> None:
    run_on_both(answer([f"{push(place)}35"]), data=DATA)


@pytest.mark.parametrize("place", [0, 1, 31, 32, 33, 63, 64, 1_000, 30_000, 1 << 20, 1 << 63, TOP - 1])
def test_memory_grows_by_words_and_is_paid_for(place: int) -> None:
    word = push(0xC3 << 248 | 5)
    for code in (
        f"{word}{push(place)}52{push(place)}515f52{push(place)}5160205259600052" + "60405ff3",
        f"{push(place)}5100",
        f"{word}5f52{push(33)}{push(place)}205f5260205ff3",
        f"{word}5f52{push(place)}5f205f5260205ff3",
        f"{word}5f52{push(place)}{push(place)}205f5260205ff3",
        f"5f{push(place)}205f5260205ff3",
    ):
        run_on_both(code)


def test_a_slot_costs_more_the_first_time() -> None:
    told = run_on_both(answer(["600754", "600754", "600854", "60096007556007" + "54"]), storage={7: 12, 8: TOP - 1})
    assert told["output"][:128] == f"{12:064x}" * 2


JUMPS: Final = {
    "to a place": "600456fe5b00",
    "to no place": "600356fe5b00",
    "into what is pushed": "600456605b5b00",
    "to the end": "600356",
    "beyond the end": "600456",
    "far beyond": f"{push(1 << 200)}56",
    "if so": "6001600657fe5b00",
    "if so, to no place": "6001600557fe5b00",
    "if so, beyond the end": "600161ffff57fe5b00",
    "if not, to no place": "5f60055700",
    "if not, beyond": "5f61ffff5700",
    "past a long push": "602656" + "7f" + "5b" * 32 + "fefe5b00",
    "to the beginning and out of gas": "5b5f56",
    "if so, to the beginning and out of gas": "5b60015f57",
}


@pytest.mark.parametrize("name", JUMPS)
def test_a_jump_leads_to_a_place_made_for_it_and_nowhere_else(name: str) -> None:
    told = run_on_both(JUMPS[name], gas=60_000)
    assert told["succeeded"] is (
        name in ("to a place", "if so", "if not, to no place", "if not, beyond", "past a long push")
    )


@pytest.mark.parametrize("op", range(256))
def test_too_little_on_the_stack_or_too_little_gas_fails_as_it_should(op: int) -> None:
    code = f"{op:02x}"
    run_on_both(code)
    for many in (1, 2, 6, 7):
        run_on_both("5f" * many + code)
    for seven in ("60016002600360046005600660076008", "6001" * 17):
        told = run_on_both(seven + code)
        if told["succeeded"] and told["gas_used"] > 21_000:
            for less in (0, 1, 2):
                run_on_both(seven + code, gas=told["gas_used"] - less)


@pytest.mark.parametrize("op", [0x30, 0x33, 0x34, 0x36, 0x3D, 0x58, 0x5A, 0x5F, 0x60, 0x7F, 0x80, 0x8F, 0x90, 0x50])
def test_a_stack_holds_1024_words_and_no_more(op: int) -> None:
    for many in (1_023, 1_024):
        run_on_both("5f" * many + f"{op:02x}" + ("00" * 32 if 0x60 <= op <= 0x7F else ""))


def test_what_is_no_opcode_and_the_end_of_the_code_are_told_apart() -> None:
    assert run_on_both("")["succeeded"] and run_on_both("6001")["succeeded"] and run_on_both("7fff")["succeeded"]
    assert not run_on_both("0c")["succeeded"] and not run_on_both("fe")["succeeded"]
