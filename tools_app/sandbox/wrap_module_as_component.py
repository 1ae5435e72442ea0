"""A plain module, as compilers of C, Rust and Go write it, becomes a component of the interface.

Its code stays as it is; around it come the interface's types, a table through which it calls what is only there once
its memory is, and, where its compiler asks for WASI, what answers as a system without clock, files and chance would.
What it has to export: `memory`, `cabi_realloc`, `run`; `_initialize` is called first where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wasmtime import WasmtimeError, wat2wasm

from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.interface import ASKING, HOST, RUN, HostFunction

_WASI: Final = "wasi_snapshot_preview1"
_MAGIC: Final = b"\0asm\x01\0\0\0"
_TYPES, _IMPORTS, _EXPORTS = 1, 2, 7
# Of a component's sections, the one that holds a core module.
_CORE_MODULE: Final = 1
_NEEDED: Final = ("memory", "cabi_realloc", RUN)
_VALUE_TYPES: Final = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64"}
_BAD_DESCRIPTOR: Final = 8
_OK: Final = "(i32.const 0)"
# What a start-up asks for and cannot do without; everything else is answered as of a descriptor that is not open.
_ANSWERS: Final = {
    "args_get": _OK,
    "environ_get": _OK,
    "args_sizes_get": f"(i32.store (local.get 0) {_OK}) (i32.store (local.get 1) {_OK}) {_OK}",
    "environ_sizes_get": f"(i32.store (local.get 0) {_OK}) (i32.store (local.get 1) {_OK}) {_OK}",
    "clock_time_get": f"(i64.store (local.get 2) (i64.const 1)) {_OK}",
    "random_get": f"(memory.fill (local.get 0) {_OK} (local.get 1)) {_OK}",
    "sched_yield": _OK,
    "proc_exit": "(unreachable)",
}


@dataclass(frozen=True, slots=True)
class _Function:
    """A function a module imports: from where, its name, its parameters and results as text, and the name it gets.

    Compilers import one function several times; a component tells imports apart by their names.
    """

    origin: str
    name: str
    params: tuple[str, ...]
    results: tuple[str, ...]
    own_name: str
    type_index: int

    @property
    def kind(self) -> str:
        return f"(param {' '.join(self.params)}) (result {' '.join(self.results)})"

    @property
    def label(self) -> str:
        return f"${self.origin.partition(':')[0]}-{self.own_name}"


def wrap_module(core: bytes) -> bytes:
    """The component around `core`, a binary module. Raises ModuleRefused where it is none of this interface."""
    try:
        core, imports, exports = _read(core)
    except (IndexError, KeyError, UnicodeDecodeError):
        raise ModuleRefused("it is no plain module that can be read") from None
    missing = [name for name in _NEEDED if name not in exports]
    if missing:
        raise ModuleRefused(f"it does not export {', '.join(missing)}")
    for function in imports:
        _check(function)
    marker = b"golem:core"
    told = _write(imports, has_start="_initialize" in exports, marker=marker.decode())
    try:
        component = bytes(wat2wasm(told))
    except WasmtimeError as error:
        raise ModuleRefused(f"it could not be wrapped: {str(error)[:200]}") from error
    return _put_in(component, core, marker)


def _check(function: _Function) -> None:
    if function.origin == _WASI:
        return
    if function.origin != HOST or function.name not in set(HostFunction):
        raise ModuleRefused(f"it imports {ascii(function.origin[:80])} {ascii(function.name[:80])}")
    expected = ("i32",) * (3 if function.name in ASKING else 2)
    if function.params != expected or function.results:
        raise ModuleRefused(f"it imports {function.name} with another type than the interface gives it")


def _write(imports: list[_Function], *, has_start: bool, marker: str) -> str:
    host = [each for each in imports if each.origin == HOST]
    system = [each for each in imports if each.origin == _WASI]
    through = "".join(
        f'(func (export "{each.label}") {each.kind} (call_indirect {each.kind} {_pass_on(each)} (i32.const {index})))'
        for index, each in enumerate(imports)
    )
    seen = "".join(f'(export "{name}" (func {_component_type(name)}))' for name in sorted({each.name for each in host}))
    lowered = "".join(
        f'(core func {each.label} (canon lower (func $host "{each.name}") (memory (core memory $main "memory"))'
        f' (realloc (core func $main "cabi_realloc"))))'
        for each in host
    )
    taken = "".join(f'(import "host" "{each.own_name}" (func {each.label} {each.kind}))' for each in host)
    given = "".join(f'(export "{each.own_name}" (func {each.label}))' for each in host)
    answers = "".join(f"(func {each.label} {each.kind} {_answer(each)})" for each in system)
    known = "".join(f'(export "{each.own_name}" (func $shim "{each.label}"))' for each in system)
    asked = "".join(f'(export "{each.own_name}" (func $shim "{each.label}"))' for each in host)
    start = '(core module $start (import "main" "_initialize" (func $begin)) (start $begin))'
    return f"""(component
  {f'(import "{HOST}" (instance $host {seen}))' if host else ""}
  (core module $main (@custom "{marker}" ""))
  (core module $shim (table (export "table") {len(imports)} {len(imports)} funcref) {through})
  (core instance $shim (instantiate $shim))
  (core instance $main (instantiate $main
    (with "{HOST}" (instance {asked})) (with "{_WASI}" (instance {known}))))
  {lowered}
  (core module $fill
    (import "main" "memory" (memory 0))
    (import "shim" "table" (table {len(imports)} {len(imports)} funcref))
    {taken} {answers}
    (elem (i32.const 0) func {" ".join(each.label for each in imports)}))
  (core instance $fill (instantiate $fill
    (with "main" (instance $main)) (with "shim" (instance $shim)) (with "host" (instance {given}))))
  {start + '(core instance (instantiate $start (with "main" (instance $main))))' if has_start else ""}
  (func (export "{RUN}") (param "call" string) (result (result string (error string)))
    (canon lift (core func $main "{RUN}")
      (memory (core memory $main "memory")) (realloc (core func $main "cabi_realloc")))))"""


def _pass_on(function: _Function) -> str:
    return " ".join(f"(local.get {index})" for index in range(len(function.params)))


def _answer(function: _Function) -> str:
    return _ANSWERS.get(function.name, f"(i32.const {_BAD_DESCRIPTOR})" if function.results else "(unreachable)")


def _component_type(name: str) -> str:
    if name in ASKING:
        return '(param "request" string) (result (result string (error string)))'
    return f'(param "{"step" if name == HostFunction.PROGRESS else "line"}" string)'


def _put_in(component: bytes, core: bytes, marker: bytes) -> bytes:
    """The component with `core` in the place of its first module, which holds nothing but `marker`."""
    at = len(_MAGIC)
    while at < len(component):
        begin, kind = at, component[at]
        size, at = _number(component, at + 1)
        if kind == _CORE_MODULE and marker in component[at : at + size]:
            return component[:begin] + bytes([_CORE_MODULE]) + _leb(len(core)) + core + component[at + size :]
        at += size
    raise ModuleRefused("it could not be wrapped")


def _read(core: bytes) -> tuple[bytes, list[_Function], set[str]]:
    """`core` with a name of its own for each function it imports, these, and what it exports.

    Raises IndexError, KeyError where it is no module.
    """
    if core[: len(_MAGIC)] != _MAGIC:
        raise KeyError("no module")
    types: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    imports: list[_Function] = []
    exports: set[str] = set()
    begin = end = at = len(_MAGIC)
    while at < len(core):
        section, kind = at, core[at]
        size, at = _number(core, at + 1)
        reader = _Reader(core, at)
        at += size
        if kind == _TYPES:
            types = [reader.function_type() for _ in reader.items()]
        elif kind == _IMPORTS:
            imports = [reader.imported(types, index) for index in reader.items()]
            begin, end = section, at
        elif kind == _EXPORTS:
            exports = {reader.exported() for _ in reader.items()}
    return core[:begin] + _write_imports(imports) + core[end:], imports, exports


def _write_imports(imports: list[_Function]) -> bytes:
    if not imports:
        return b""
    told = _leb(len(imports))
    for each in imports:
        told += b"".join(_leb(len(text)) + text for text in (each.origin.encode(), each.own_name.encode()))
        told += b"\0" + _leb(each.type_index)
    return bytes([_IMPORTS]) + _leb(len(told)) + told


class _Reader:
    """Reads a section from where it begins."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self._at = at

    def number(self) -> int:
        number, self._at = _number(self._content, self._at)
        return number

    def items(self) -> Iterator[int]:
        yield from range(self.number())

    def name(self) -> str:
        size = self.number()
        self._at += size
        return self._content[self._at - size : self._at].decode()

    def imported(self, types: list[tuple[tuple[str, ...], tuple[str, ...]]], index: int) -> _Function:
        origin, name = self.name(), self.name()
        if self.number() != 0:
            raise ModuleRefused(f"it imports {ascii(name[:80])}, which is no function")
        type_index = self.number()
        params, results = types[type_index]
        return _Function(origin, name, params, results, f"{name}-{index}", type_index)

    def exported(self) -> str:
        name = self.name()
        self.number(), self.number()
        return name

    def function_type(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.number() != 0x60:
            raise KeyError("no type of a function")
        params, results = (tuple(_VALUE_TYPES[self.number()] for _ in self.items()) for _ in range(2))
        return params, results


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    number = shift = 0
    while True:
        byte = content[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def _leb(number: int) -> bytes:
    told = bytearray()
    while number >= 0x80:
        told.append(number & 0x7F | 0x80)
        number >>= 7
    told.append(number)
    return bytes(told)
