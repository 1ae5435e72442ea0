"""No test passes or fails by how busy its machine is: what a clock shows is held against no number of seconds.

A time is held against what was measured around it, or the clock is one that the test moves. What is left is below, each
with why load cannot decide it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from tests.architecture.sources import list_tracked, parse

_CLOCKS: Final = {
    *("monotonic", "monotonic_ns", "monotonic_ms", "perf_counter", "perf_counter_ns", "time", "time_ns"),
    *("thread_time", "process_time", "_time_of_children", "now"),
}
_LEAVES_OUT: Final = ("tests/bench/", "tests/proof/")
"""What measures, and what takes hours."""
_FOR_EVER: Final = "what it bounds goes on for ever, or for minutes, and would end in a twentieth of the bound"
_AROUND: Final = "it is between what was measured around it"
_WIDER: Final = "load only makes it wider"

BOUNDED: Final[dict[str, str]] = {
    **dict.fromkeys(
        [
            "tests/tools_app/chain/test_rpc.py::test_a_node_that_never_answers_times_out_within_the_deadline",
            "tests/tools_app/chain/test_rpc.py::test_an_answer_that_drips_is_cut_off_at_the_deadline",
            "tests/tools_app/core/test_guarded_http.py::test_a_hostile_receiver_costs_little_time_and_memory",
            "tests/tools_app/sandbox/test_hostile_modules.py::"
            "test_a_hostile_module_ends_with_its_code_and_the_next_call_runs",
            "tests/tools_app/sandbox/test_compiled_code_store.py::"
            "test_a_compiler_that_reads_nothing_more_is_given_up_when_its_time_is_over",
            "tests/tools_app/subsystems/coding/test_hostile_commands.py::"
            "test_a_command_over_its_time_is_killed_with_all_it_started",
            "tests/tools_app/subsystems/coding/test_folder_search.py::test_a_pattern_that_bombs_other_engines_ends_at_once",
            "tests/tools_app/subsystems/coding/test_folder_search.py::test_a_shell_pattern_that_bombs_ends_at_once",
            "tests/tools_app/subsystems/coding/test_ssh.py::"
            "test_a_command_over_its_time_is_killed_there_with_all_it_started",
            "tests/tools_app/test_runner_budget.py::test_a_statement_that_outlives_its_tool_is_cancelled_in_the_server",
        ],
        _FOR_EVER,
    ),
    "tests/tools_app/sandbox/test_hostile_modules.py::"
    "test_a_module_that_blows_up_its_compiler_ends_the_compiler_and_nothing_else": (
        "the compiler's own twenty seconds end it, however little it got done; left alone it takes minutes"
    ),
    "tests/tools_app/core/test_taint_is_linear.py::"
    "test_a_hundred_kilobytes_of_anything_are_redacted_in_under_a_second_of_this_thread": (
        "processor time of its own thread, of which others take nothing"
    ),
    "tests/golem_project/embedded/test_bootstrap.py::test_the_second_run_says_nothing_and_takes_well_under_a_second": (
        "processor time of its own children, of which others take nothing"
    ),
    "tests/contracts/test_what_it_does_not_do.py::"
    "test_at_the_turn_of_a_period_an_allowance_and_what_comes_back_are_used_in_one_moment": (
        "the clock is that of an engine in memory, which goes as it is told"
    ),
    "tests/golem_project/front/test_lines.py::"
    "test_a_connection_that_was_told_to_wait_is_not_read_from_for_a_moment": _WIDER,
    "tests/golem_project/test_sdk_socket.py::"
    "test_a_thread_that_takes_more_memory_than_it_may_is_ended_and_begun_again_with_pauses": _WIDER,
    "tests/golem_project/test_set_back_clocks.py::"
    "test_a_beat_that_runs_while_its_clock_goes_back_makes_its_heap_anew": _WIDER,
    "tests/golem_project/test_set_back_clocks.py::"
    "test_codes_count_again_though_one_of_a_future_that_did_not_come_was_used": _WIDER,
    "tests/golem_project/world/test_world.py::test_the_past_ends_at_the_machines_time_and_goes_on_from_there": _AROUND,
    "tests/permits_app/execution/test_told_waits.py::pending_told": _AROUND,
    "tests/tools_app/chain/test_rpc_pool.py::"
    "test_a_node_that_said_when_to_ask_again_is_not_asked_first_before": _AROUND,
}


def _reads_clock(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Call)
        and not each.args
        and not each.keywords
        and (each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")) in _CLOCKS
        for each in ast.walk(node)
    )


def _is_span(node: ast.AST) -> bool:
    """A number that is not nothing, or a span of time that is written out."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float) and node.value != 0
    if isinstance(node, ast.BinOp):
        return _is_span(node.left) or _is_span(node.right)
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("timedelta")


def find_bounds(tree: ast.Module) -> Iterator[str]:
    """Functions with an assertion that holds a reading of a clock, or what was measured with one, against a number."""
    for function in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)):
        nodes = list(ast.walk(function))
        measured = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and _reads_clock(node.value)
            if isinstance(node.value.op, ast.Sub)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if not isinstance(node, ast.Assert):
                continue
            for each in (found for found in ast.walk(node.test) if isinstance(found, ast.Compare)):
                sides = [each.left, *each.comparators]
                is_ordered = any(isinstance(how, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for how in each.ops)
                times = [side for side in sides if _is_time(side) or isinstance(side, ast.Name) and side.id in measured]
                if is_ordered and times and any(map(_is_span, sides)):
                    yield function.name


def _is_time(side: ast.AST) -> bool:
    """A difference with a clock's reading, or the reading itself; not what a call was told as its `now`."""
    if isinstance(side, ast.Call):
        name = side.func.attr if isinstance(side.func, ast.Attribute) else getattr(side.func, "id", "")
        if name in ("total_seconds", "timestamp", "abs", "int"):
            return any(_is_time(part) for part in (*side.args, getattr(side.func, "value", side)) if part is not side)
        return _reads_clock(ast.Expression(side)) and not side.args and not side.keywords
    return isinstance(side, ast.BinOp) and (_is_time(side.left) or _is_time(side.right))


def test_no_assertion_holds_what_a_clock_shows_against_a_number_of_seconds() -> None:
    found = {
        f"{path}::{function}"
        for path in list_tracked()
        if path.startswith("tests/") and path.endswith(".py") and not path.startswith(_LEAVES_OUT)
        for function in find_bounds(parse(path))
    }
    assert sorted(found - BOUNDED.keys()) == [], "hold it against what was measured around it, or move the clock"
    assert sorted(BOUNDED.keys() - found) == [], "it is gone"


@pytest.mark.parametrize(
    ("body", "is_found"),
    [
        ("assert time.monotonic() - begun < 5", True),
        ("assert clock.monotonic_ms() - begun > 300", True),
        ("took = time.perf_counter() - begun\n    assert took < 2.5", True),
        ("assert 0 < (row.ends - clock.now()).total_seconds() <= 63", True),
        ("assert row.ends - clock.now() < timedelta(seconds=1)", True),
        ("assert abs(block - time.time()) < 60", True),
        ("assert begun <= row.at <= clock.now()", False),
        ("took = clock.monotonic_ms() - begun\n    assert 0 <= told <= took", False),
        ("assert clock.now() - begun > timedelta()", True),
        ("assert sweep(now=clock.now()) >= 1", False),
        ("assert sweep(now=clock.now() + timedelta(hours=1)) == 1", False),
        ("while time.monotonic() < until:\n        pass", False),
    ],
)
def test_each_way_to_hold_a_clock_against_a_number_is_found(body: str, is_found: bool) -> None:
    assert (list(find_bounds(ast.parse(f"def work():\n    {body}\n"))) == ["work"]) is is_found
