"""Modules that mean harm, or are written badly: each ends with its own code, and the next call runs as ever."""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NoReturn
from uuid import uuid4

import psutil
import pytest
from wasmtime import wat2wasm

from tests.architecture.sources import ROOT
from tests.tools_app.sandbox.wat import answering, asking, write_component, write_text
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.sandbox.compiling import compile_module
from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.instantiations import check_instantiations
from tools_app.sandbox.interface import HostFunction
from tools_app.sandbox.limits import CallLimits, limits_of
from tools_app.sandbox.module_call import Ran, run_module
from tools_app.sandbox.module_size import most_module_bytes
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import Phase, TickBudget
from tools_app.toolkit.views import GolemView

FAST = limits_of(TickBudget.FAST)
EVERYTHING = frozenset(HostFunction)
GOOD = answering('{"data": {"word": "hello"}}')


def make_context(open_chain: Callable[[int], ChainReader] | None = None, milliseconds: int = 5_000) -> ReadContext:
    def no_chain(chain_id: int) -> NoReturn:
        raise AssertionError("no chain is read here")

    golem = GolemView(uuid4(), "Atlas", None, 31337, "USDC", Phase.THRIVING)
    return ReadContext(
        golem=golem,
        now=datetime(2026, 1, 1, tzinfo=UTC),
        deadline=Deadline.after_ms(milliseconds),
        open_chain=open_chain or no_chain,
        report_step=lambda _: None,
    )


def run(module: bytes, *, limits: CallLimits = FAST, ctx: ReadContext | None = None, **params: Any) -> Ran:
    return run_module(
        compiled=compile_module(module), params=params, allowed=EVERYTHING, limits=limits, ctx=ctx or make_context()
    )


def code_of(ran: Ran) -> str:
    assert ran.answer is None and ran.error is not None
    limit = ran.error.data.get("limit")
    return f"{ran.error.code}:{limit}" if limit else ran.error.code


HOSTILE = {
    "an endless loop": (write_component("(loop $l (br $l)) (unreachable)"), "MODULE_OVER_LIMIT:fuel"),
    "deep recursion": (
        write_component("(call $f) (unreachable)", extra="(func $f (call $f) (call $f))"),
        "MODULE_OVER_LIMIT:stack",
    ),
    "a memory that is too large from the start": (write_component("(unreachable)", memory="1024"), None),
    "tables without end": (
        write_component(
            "(drop (table.grow $t (ref.null func) (i32.const 1000000)))"
            "(if (i32.ne (table.size $t) (i32.const 1)) (then (loop $l (br $l)))) (unreachable)",
            extra="(table $t 1 funcref)",
        ),
        "MODULE_FAILED",
    ),
    "a table that is too large from the start": (
        write_component("(unreachable)", extra="(table $t 1000000 funcref)"),
        None,
    ),
    "more memories than a call has": (
        write_component("(unreachable)", extra="(memory 1) (memory 1) (memory 1)"),
        "MODULE_OVER_LIMIT:memory",
    ),
    "more tables than a call has": (
        write_component("(unreachable)", extra="".join(f"(table $t{each} 1 funcref)" for each in range(9))),
        "MODULE_OVER_LIMIT:memory",
    ),
    "a call beyond the end of a table": (
        write_component(
            "(call_indirect $t (type $nothing) (i32.const 7)) (unreachable)",
            extra="(type $nothing (func)) (table $t 2 funcref)",
        ),
        "MODULE_FAILED",
    ),
    "a call through a table as another type": (
        write_component(
            "(call_indirect $t (type $nothing) (i32.const 0)) (unreachable)",
            extra="(type $nothing (func)) (func $other (result i64) (i64.const 1)) (table $t funcref (elem $other))",
        ),
        "MODULE_FAILED",
    ),
    "a table filled again and again": (
        write_component(
            "(loop $l (table.fill $t (i32.const 0) (ref.null func) (i32.const 9000)) (br $l)) (unreachable)",
            extra="(table $t 9000 funcref)",
        ),
        "MODULE_OVER_LIMIT:fuel",
    ),
    "data copied beyond its end": (
        write_component(
            "(memory.init $d (i32.const 0) (i32.const 0) (i32.const 100)) (unreachable)", extra='(data $d "x")'
        ),
        "MODULE_FAILED",
    ),
    "memory filled again and again": (
        write_component("(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br $l)) (unreachable)"),
        "MODULE_OVER_LIMIT:fuel",
    ),
    "memory copied again and again": (
        write_component("(loop $l (memory.copy (i32.const 0) (i32.const 1) (i32.const 65535)) (br $l)) (unreachable)"),
        "MODULE_OVER_LIMIT:fuel",
    ),
    "a read beyond its memory": (write_component("(i32.load (i32.const -4))"), "MODULE_FAILED"),
    "a trap": (write_component("(unreachable)"), "MODULE_FAILED"),
    "an answer that lies beyond its memory": (
        write_component("(call $answer (i32.const 0) (i32.const 2147483640) (i32.const 100))"),
        "MODULE_FAILED",
    ),
    "an answer that is no UTF-8": (
        write_component("(call $answer (i32.const 0) (i32.const 2048) (i32.const 4))", data="\\ff\\fe\\80\\80"),
        "MODULE_FAILED",
    ),
    "an answer that is no JSON": (answering("hello"), "MODULE_FAILED"),
    "an answer of another shape": (answering("[1]"), "MODULE_FAILED"),
    "an answer with members that nobody asked for": (answering('{"data": 1, "permit": "x"}'), "MODULE_FAILED"),
    "an answer that is nested too deep": (answering("[" * 5000), "MODULE_FAILED"),
    "an answer that is neither ok nor an error": (
        write_component("(call $answer (i32.const 77) (i32.const 2048) (i32.const 1))"),
        "MODULE_FAILED",
    ),
    "an answer at an odd address": (write_component("(i32.const 17)"), "MODULE_FAILED"),
    "a huge answer": (
        write_component(
            "(drop (memory.grow (i32.const 200)))"
            "(memory.fill (i32.const 65536) (i32.const 32) (i32.const 1048576))"
            "(call $answer (i32.const 0) (i32.const 65536) (i32.const 1048576))"
        ),
        "MODULE_OVER_LIMIT:answer",
    ),
    "a flood of lines": (
        write_component("(loop $l (call $log (i32.const 0) (i32.const 60000)) (br $l)) (unreachable)", uses=["log"]),
        "MODULE_OVER_LIMIT:fuel",
    ),
    "more calls than it may make": (
        write_component("(loop $l (call $log (i32.const 0) (i32.const 1)) (br $l)) (unreachable)", uses=["log"]),
        "MODULE_OVER_LIMIT:calls",
    ),
    "a line larger than what may cross": (
        write_component(
            "(drop (memory.grow (i32.const 10))) (call $log (i32.const 0) (i32.const 100000)) (unreachable)",
            uses=["log"],
        ),
        "MODULE_OVER_LIMIT:answer",
    ),
    "a line that is no UTF-8": (
        write_component("(call $log (i32.const 2048) (i32.const 2)) (unreachable)", uses=["log"], data="\\ff\\fe"),
        "MODULE_FAILED",
    ),
    "a host that is called from where it allocates": (
        # The answer of the host is written through `realloc`, which here traps in the middle of the call.
        asking("token", '{"token": "USDC"}').replace(b"(global.set $top", b"(unreachable) (global.set $top"),
        "MODULE_FAILED",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_module_ends_with_its_code_and_the_next_call_runs(name: str) -> None:
    module, code = HOSTILE[name]
    started = time.monotonic()
    ran = run(module, limits=limits_of(TickBudget.MEDIUM) if "calls" in name else FAST)
    assert time.monotonic() - started < 60
    assert code_of(ran) == (code or "MODULE_OVER_LIMIT:memory"), ran.error
    assert run(GOOD).answer == {"data": {"word": "hello"}}


def test_memory_grows_to_its_limit_and_no_further() -> None:
    pages = FAST.memory_bytes // 65536
    body = (
        f"(if (i32.eq (memory.grow (i32.const {pages - 1})) (i32.const -1)) (then (unreachable)))"
        "(if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))"
        "(call $answer (i32.const 0) (i32.const 2048) (i32.const 13))"
    )
    assert run(write_component(body, data=write_text('{"data": "ok"}'[:13] + "}"))).error is not None
    good = write_component(body.replace("const 13", "const 14"), data=write_text('{"data": "ok"}'))
    assert run(good).answer == {"data": "ok"}


def test_a_module_without_fuel_left_for_it_is_stopped_by_the_clock() -> None:
    endless = CallLimits(fuel=2**60, milliseconds=200, memory_bytes=1 << 20)
    # With fuel for years only the clock can end it.
    ran = run(write_component("(loop $l (br $l)) (unreachable)"), limits=endless)
    assert code_of(ran) == "BUDGET_EXCEEDED"


def test_a_host_call_that_takes_too_long_ends_the_module_when_it_returns() -> None:
    class Slow:
        def token(self, ref: str) -> Any:
            time.sleep(0.4)
            raise GolemError("the node hangs")

    limits = CallLimits(fuel=10**9, milliseconds=200, memory_bytes=1 << 20)
    loop = asking("token", '{"token": "USDC"}').replace(
        b"(i32.const 16)))\n  (core instance $main", b"(unreachable)))\n  (core instance $main"
    )
    ran = run(loop, limits=limits, ctx=make_context(lambda _: Slow()))  # type: ignore[arg-type,return-value]
    assert code_of(ran) == "BUDGET_EXCEEDED"


def test_what_the_host_raises_ends_one_call_and_reaches_no_other() -> None:
    """wasmtime keeps an exception of Python for the process; two calls at once must not be handed each other's."""

    class Failing:
        def token(self, ref: str) -> Any:
            raise RuntimeError("a bug of ours")

    module = asking("token", '{"token": "USDC"}')
    codes: list[str] = []

    def fail() -> None:
        for _ in range(50):
            codes.append(code_of(run(module, ctx=make_context(lambda _: Failing()))))  # type: ignore[arg-type,return-value]

    def work() -> None:
        for _ in range(50):
            assert run(GOOD).answer is not None
            codes.append("good")

    threads = [threading.Thread(target=each) for each in (fail, work, fail, work)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes.count("INTERNAL_ERROR") == codes.count("good") == 100


def test_two_calls_at_once_share_nothing_of_a_module() -> None:
    """Each counts up in its memory and in a global; a store of its own means that both always find 0."""
    body = (
        "(if (i32.or (i32.load (i32.const 4096)) (global.get $n)) (then (unreachable)))"
        "(i32.store (i32.const 4096) (i32.const 1)) (global.set $n (i32.const 1))"
        "(call $answer (i32.const 0) (i32.const 2048) (i32.const 11))"
    )
    module = write_component(body, extra="(global $n (mut i32) (i32.const 0))", data=write_text('{"data": 1}'))
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.extend(run(module).answer for _ in range(100))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [{"data": 1}] * 400


def test_thousands_of_calls_leave_nothing_behind() -> None:
    bad = HOSTILE["a trap"][0]
    for _ in range(200):
        run(GOOD), run(bad)
    gc.collect()
    before = psutil.Process().memory_info().rss
    for _ in range(2_000):
        run(GOOD), run(bad)
    gc.collect()
    assert psutil.Process().memory_info().rss - before < 16 * 1024 * 1024


def double(times: int, *, inner: str = "", each: str = "", again: str = "(instance (instantiate $p))") -> bytes:
    """A good module beside a tower of components, each of which instantiates the one below it twice."""
    tower = f"(component $c0 {inner})" + "".join(
        f"(component $c{each_one} (alias outer 1 {each_one - 1} (component $p)) {again} {again} {each})"
        for each_one in range(1, times + 1)
    )
    return GOOD.rstrip()[:-1] + f"{tower} (instance (instantiate $c{times})))".encode()


_ONE_MODULE = "(core module $m) (core instance (instantiate $m))"
TOWERS = {
    "nothing": double(22),
    "a module without anything": double(22, inner=_ONE_MODULE),
    "a memory": double(12, inner="(core module $m (memory 1)) (core instance (instantiate $m))"),
    "a table": double(12, inner="(core module $m (table 1000 funcref)) (core instance (instantiate $m))"),
    "a module that starts": double(12, inner="(core module $m (func $f) (start $f)) (core instance (instantiate $m))"),
    "modules at each level": double(22, each=_ONE_MODULE),
    "groups of names": double(
        7,
        inner='(core module $m (func (export "f"))) (core instance $i (instantiate $m))'
        '(func $f (canon lift (core func $i "f")))'
        + "".join(f'(instance (export "f{n}" (func $f)))' for n in range(500)),
    ),
    "functions that are lowered": double(
        7,
        inner='(core module $m (func (export "f"))) (core instance $i (instantiate $m))'
        '(func $f (canon lift (core func $i "f")))' + "(core func (canon lower (func $f)))" * 500,
    ),
    "a component under another name": double(
        22, again="(instance (instantiate $p))", each='(export "again" (component $p))'
    ),
    "a component that is handed in": double(
        22,
        inner='(import "c" (component))',
        again='(component $e) (instance (instantiate $p (with "c" (component $e))))',
    ),
    "one that is instantiated by whoever it is handed to": GOOD.rstrip()[:-1]
    + b"""
        (component $e)
        (component $by (import "c" (component $c)) (instance (instantiate $c)) (instance (instantiate $c)))
        (instance (instantiate $by (with "c" (component $e)))))""",
    "many beside each other": GOOD.rstrip()[:-1] + b"(component $e)" + b"(instance (instantiate $e))" * 300 + b")",
    "parts within parts": GOOD.rstrip()[:-1] + b"(component " * 40 + b")" * 41,
}


@pytest.mark.parametrize("name", TOWERS)
def test_a_component_that_would_instantiate_its_parts_over_and_over_is_refused_before_it_is_compiled(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModuleRefused, match="instantiate|made of more|nested more"):
        compile_module(TOWERS[name])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024
    assert run(GOOD).answer == {"data": {"word": "hello"}}


def test_parts_that_are_instantiated_a_few_times_run_as_ever() -> None:
    assert run(double(5)).answer == {"data": {"word": "hello"}}
    assert run(double(3, inner=_ONE_MODULE, each='(export "again" (component $p))')).answer is not None


def test_an_instance_that_takes_the_hosts_memory_ends_the_process_that_tries_it_where_no_count_stops_it() -> None:
    """The second fence alone: in this process the bounds of the count are lifted."""
    lifted = (
        "import tools_app.sandbox.instantiations as count; count.MOST_INSTANCES = count.MOST_ENTRIES = 2**40\n"
        "from tools_app.sandbox.compile_child import main; main()"
    )
    told = []
    for module in (double(5), double(22)):
        child = [sys.executable, "-c", lifted, str(len(module))]
        told.append(subprocess.run(child, input=module, capture_output=True, timeout=120, cwd=ROOT).stdout[:12])
    assert told[0] == b'{"ok": true}' and told[1] != b'{"ok": true}'


def test_a_component_is_counted_up_to_its_edges_and_refused_beyond() -> None:
    def nest(depth: int) -> str:
        return "(component " * depth + ")" * depth

    edges = {
        "(component (component $e)" + "(instance (instantiate $e))" * 255 + ")": "(instance (instantiate $e))",
        "(component (component $e) (instance $i (instantiate $e))"
        + "(instance (instantiate $e))" * 99
        + '(export "i" (instance $i))'
        + '(instance (export "e" (instance $i)))' * 9_949
        + "(instance (instantiate $e)))": "(instance (instantiate $e))",
        nest(32): "",
    }
    for within, more in edges.items():
        check_instantiations(bytes(wat2wasm(within)))
        beyond = within[:-1] + more + ")" if more else nest(33)
        with pytest.raises(ModuleRefused):
            check_instantiations(bytes(wat2wasm(beyond)))


@pytest.mark.parametrize("cut", [9, 40, 200, -30, -1])
def test_bytes_that_are_no_whole_component_are_refused(cut: int) -> None:
    with pytest.raises(ModuleRefused):
        compile_module(bytes(wat2wasm(double(3)))[:cut])
    assert run(bytes(wat2wasm(double(3)))).answer is not None


REFUSED = {
    "nothing": (b"", "expected"),
    "no module": (b"\x00asm junk", ""),
    "a plain core module": (b'(module (func (export "run")))', "component"),
    "a component without run": (b"(component)", "export run"),
    "a run of another type": (
        GOOD.replace(b'(param "call" string)', b'(param "call" u32)').replace(
            b"(param i32 i32) (result i32) (call", b"(param i32) (result i32) (call"
        ),
        "",
    ),
    "the system": (write_component("(unreachable)", uses=["log"], host="wasi:cli/environment@0.2.0"), "wasi:cli"),
    "a function the host does not have": (
        write_component("(unreachable)", uses=["log"]).replace(b'"log"', b'"sign"'),
        "'sign'",
    ),
    "a function of another type": (
        write_component("(unreachable)", uses=["log"]).replace(b'(param "line" string)', b'(param "line" (list u8))'),
        "another type",
    ),
    "threads": (write_component("(unreachable)").replace(b'"memory") 1)', b'"memory") 1 1 shared)'), ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_module_of_ours_is_refused_before_it_runs(name: str) -> None:
    module, words = REFUSED[name]
    with pytest.raises(ModuleRefused) as refused:
        compile_module(module)
    assert words in refused.value.detail


def test_a_module_as_large_as_it_may_be_is_read_and_one_byte_more_is_not() -> None:
    padding = b" " * (most_module_bytes() - len(GOOD))
    compile_module(GOOD + padding)
    with pytest.raises(ModuleRefused, match="at most"):
        compile_module(GOOD + padding + b" ")


def test_a_module_that_blows_up_its_compiler_ends_the_compiler_and_nothing_else() -> None:
    """Half a megabyte of branches on branches would keep a compiler busy for minutes; the child runs into its limit."""
    branch = "(if (result i32) (local.get 0) (then (i32.const 1)) (else (i32.const 2)))(i32.add)"
    bomb = write_component("(unreachable)", extra=f"(func (param i32) (result i32) (local.get 0){branch * 9_000})")
    assert len(bomb) < most_module_bytes()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    with pytest.raises(ModuleRefused, match="more time or memory|longer than"):
        compile_module(bomb)
    assert time.monotonic() - started < 90
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert run(GOOD).answer is not None


def test_a_module_that_uses_more_of_the_host_than_it_declared_does_not_run() -> None:
    compiled = compile_module(asking("price", "{}"))
    ran = run_module(
        compiled=compiled, params={}, allowed=frozenset({HostFunction.LOG}), limits=FAST, ctx=make_context()
    )
    assert code_of(ran) == "MODULE_REFUSED"


def test_a_module_is_handed_its_parameters_as_the_same_plain_bytes_in_whatever_order_they_come() -> None:
    says_them = write_component("(call $answer (i32.const 1) (local.get 0) (local.get 1))")
    for ran in (run(says_them, word="né", amount=1), run(says_them, amount=1, word="né")):
        assert ran.error is not None and ran.error.detail.endswith('{"amount":1,"word":"n\\u00e9"}')


def test_the_same_call_uses_the_same_fuel_every_time() -> None:
    assert len({run(GOOD, amount="1").use.fuel for _ in range(5)}) == 1


def test_what_the_host_refuses_is_an_answer_the_module_can_read() -> None:
    ran = run(asking("chain-read", json.dumps({"to": "0x12", "signature": "function f() view returns (uint256)"})))
    assert code_of(ran) == "MODULE_FAILED"
    assert ran.error is not None and "INVALID_PARAMS" in ran.error.detail
    assert ran.use.host_calls == {"chain-read": 1}
