"""Compares what a compiled component asks for and offers with the interface, to the letter."""

from __future__ import annotations

from wasmtime import Engine
from wasmtime.component import Component, ComponentInstanceType, FuncType, ResultType, String

from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.interface import ASKING, HOST, RUN, HostFunction

_FUNCTIONS = frozenset(str(function) for function in HostFunction)


def read_imports(engine: Engine, component: Component) -> frozenset[HostFunction]:
    """The host functions a component imports. Raises ModuleRefused for anything else, or another type of `run`."""
    imported: set[HostFunction] = set()
    for name, extern in component.type.imports(engine).items():
        kind = extern.ty
        if name != HOST or not isinstance(kind, ComponentInstanceType):
            raise ModuleRefused(f"it imports {_short(name)}; a module may import {HOST} and nothing else")
        for function, item in kind.exports(engine).items():
            imported.add(_check_import(function, item.ty))
    exports = component.type.exports(engine)
    if RUN not in exports or not _asks(exports[RUN].ty):
        raise ModuleRefused("it has to export run: func(call: string) -> result<string, string>")
    return frozenset(imported)


def _check_import(name: str, kind: object) -> HostFunction:
    if name not in _FUNCTIONS:
        raise ModuleRefused(f"the host has no function {_short(name)}", known=sorted(_FUNCTIONS))
    function = HostFunction(name)
    if not (_asks(kind) if function in ASKING else _tells(kind)):
        raise ModuleRefused(f"it imports {name} with another type than the interface gives it")
    return function


def _asks(kind: object) -> bool:
    if not _takes_text(kind) or not isinstance(kind, FuncType):
        return False
    result = kind.result
    return isinstance(result, ResultType) and isinstance(result.ok, String) and isinstance(result.err, String)


def _tells(kind: object) -> bool:
    return _takes_text(kind) and isinstance(kind, FuncType) and kind.result is None


def _takes_text(kind: object) -> bool:
    if not isinstance(kind, FuncType):
        return False
    params = kind.params
    return len(params) == 1 and isinstance(params[0][1], String)


def _short(name: str) -> str:
    return ascii(name[:80])
