"""A plain module gets the interface around it, and nothing that is none of the interface does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from wasmtime import wat2wasm

from tests.tools_app.sandbox.test_hostile_modules import code_of, run
from tools_app.sandbox.wrap_module_as_component import wrap_module

_EXPORTS = (
    '(memory (export "memory") 1) (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64))'
)
_RUN = '(func (export "run") (param i32 i32) (result i32) {})'
_HOST = '(import "golem:tool/host@1.0.0" "{}" (func ${} (param {})))'
_WASI = "wasi_snapshot_preview1"


def core(run: str = "(unreachable)", *, imports: str = "", more: str = "") -> bytes:
    """A plain module as a compiler writes it: `answer` leaves a text of 11 bytes, which stands at 2048."""
    answer = """(data (i32.const 2048) "{\\22data\\22: 1}")
      (func $answer (result i32) (i32.store (i32.const 20) (i32.const 2048)) (i32.store (i32.const 24) (i32.const 11))
        (i32.const 16))"""
    return bytes(wat2wasm(f"(module {imports} {_EXPORTS} {answer} {more} {_RUN.format(run)})"))


def test_what_calls_the_host_calls_it_through_the_wrapping() -> None:
    imports = _HOST.format("log", "log", "i32 i32") + _HOST.format("token", "token", "i32 i32 i32")
    ran = run(wrap_module(core("(call $log (i32.const 2048) (i32.const 11)) (call $answer)", imports=imports)))
    assert ran.answer == {"data": 1} and ran.use.lines == ('{"data": 1}',)


def test_the_same_function_imported_twice_is_one_function_of_the_host() -> None:
    imports = _HOST.format("log", "log", "i32 i32") + _HOST.format("log", "again", "i32 i32")
    calls = "".join(f"(call ${each} (i32.const 2048) (i32.const 2))" for each in ("log", "again"))
    assert run(wrap_module(core(f"{calls} (call $answer)", imports=imports))).use.lines == ('{"', '{"')


def test_a_system_that_is_asked_for_has_no_clock_no_chance_no_files_and_no_arguments() -> None:
    asked = {
        "clock_time_get": "(param i32 i64 i32)",
        "random_get": "(param i32 i32)",
        "args_sizes_get": "(param i32 i32)",
        "fd_write": "(param i32 i32 i32 i32)",
        "path_open": "(param i32 i32 i32 i32 i32 i64 i64 i32 i32)",
    }
    imports = "".join(f'(import "{_WASI}" "{name}" (func ${name} {kind} (result i32)))' for name, kind in asked.items())
    fill = "(i64.store (i32.const 512) (i64.const -1)) (i64.store (i32.const 520) (i64.const -1))"
    calls = """
      (if (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 504)) (then (unreachable)))
      (if (i64.ne (i64.load (i32.const 504)) (i64.const 1)) (then (unreachable)))
      (if (call $random_get (i32.const 512) (i32.const 8)) (then (unreachable)))
      (if (i64.ne (i64.load (i32.const 512)) (i64.const 0)) (then (unreachable)))
      (if (call $args_sizes_get (i32.const 520) (i32.const 524)) (then (unreachable)))
      (if (i64.ne (i64.load (i32.const 520)) (i64.const 0)) (then (unreachable)))
      (if (i32.ne (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0)) (i32.const 8))
        (then (unreachable)))
      (if (i32.ne (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0)
        (i64.const 0) (i32.const 0) (i32.const 0)) (i32.const 8)) (then (unreachable)))"""
    assert run(wrap_module(core(f"{fill}{calls} (call $answer)", imports=imports))).answer == {"data": 1}


def test_a_module_that_has_to_be_begun_is_begun_before_it_runs_and_one_that_ends_itself_stops() -> None:
    begun = '(global $begun (mut i32) (i32.const 0)) (func (export "_initialize") (global.set $begun (i32.const 1)))'
    asks = "(if (i32.eqz (global.get $begun)) (then (unreachable))) (call $answer)"
    assert run(wrap_module(core(asks, more=begun))).answer == {"data": 1}
    leaves = f'(import "{_WASI}" "proc_exit" (func $exit (param i32)))'
    assert (
        code_of(run(wrap_module(core("(call $exit (i32.const 0)) (unreachable)", imports=leaves)))) == "MODULE_FAILED"
    )


NOT_WRAPPED: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "can be read"),
    "a text": (lambda: b"(module)", "can be read"),
    "a component": (lambda: bytes(wat2wasm("(component)")), "can be read"),
    "half a module": (lambda: core()[:40], "can be read|does not export"),
    "a length beyond the end": (lambda: b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f\xff\xff", "can be read"),
    "a length without an end": (lambda: b"\0asm\x01\0\0\0\x02" + b"\xff" * 5_000, "can be read"),
    "one that exports nothing": (lambda: bytes(wat2wasm("(module)")), "memory, cabi_realloc, run"),
    "one that imports a memory": (lambda: core(imports='(import "env" "m2" (table 1 funcref))'), "no function"),
    "one that imports from elsewhere": (lambda: core(imports='(import "env" "sign" (func))'), "'sign'"),
    "a function the host does not have": (lambda: core(imports=_HOST.format("sign", "s", "i32 i32")), "'sign'"),
    "a function of another type": (lambda: core(imports=_HOST.format("log", "l", "i32")), "another type"),
}


@pytest.mark.parametrize("name", NOT_WRAPPED)
def test_what_is_no_plain_module_of_the_interface_is_not_wrapped(name: str, tmp_path: Path) -> None:
    content, words = NOT_WRAPPED[name]
    plain, out = tmp_path / "core.wasm", tmp_path / "out.wasm"
    plain.write_bytes(content())
    with pytest.raises(CommandError, match=words):
        call_command("wasm", "wrap", str(plain), "-o", str(out))
    assert not out.exists()
