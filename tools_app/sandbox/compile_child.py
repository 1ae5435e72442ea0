"""The process that compiles: takes a module on its input, gives machine code on its output, and ends.

It limits itself before it reads the first byte, so a module made to blow up a compiler ends this process and no other.
What it compiled it instantiates once, with no more memory than a call may use, so that what takes more ends here too.
Its one argument is the module's size in bytes. Output: one line of JSON ({"ok": true} or {"ok": false, "reason": ...}),
then the code. Run with -m; imports the sandbox and nothing of Django.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from typing import TYPE_CHECKING, Final, NoReturn

from tools_app.sandbox.limits import COMPILE_MEMORY_BYTES, MEBIBYTE, compile_limits_of, limits_of
from tools_app.toolkit.enums import TickBudget

if TYPE_CHECKING:
    from collections.abc import Iterable

_BINARY: Final = b"\x00asm"
_NO_CEILING: Final = resource.RLIM_INFINITY
_TRIAL_TICKS: Final = 2**32
_BESIDE_BYTES: Final = 64 * MEBIBYTE
"""What an instance may take beside its linear memories and its code: tables, stacks, and what tells of both."""
_NO_MEMORY: Final = ("os error 12", "Cannot allocate memory", "failed to allocate")


def main() -> None:
    """One module."""
    size = int(sys.argv[1])
    for which, most in (
        (resource.RLIMIT_CPU, compile_limits_of(size).processor_seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(which, (most, most))
    # Taken back for the trial: an instance reserves addresses, which are no memory.
    resource.setrlimit(resource.RLIMIT_AS, (COMPILE_MEMORY_BYTES, _NO_CEILING))
    # Loading the compiler opens its library, which is done before files are forbidden to be opened.
    from wasmtime import WasmtimeError, wat2wasm
    from wasmtime.component import Component

    from tools_app.core.errors import GolemError
    from tools_app.sandbox.engine import make_engine
    from tools_app.sandbox.inspection import read_imports
    from tools_app.sandbox.instantiations import check_instantiations

    engine = make_engine()
    libc = ctypes.CDLL(None)
    own_status = os.open("/proc/self/status", os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    given = sys.stdin.buffer.read(size)
    try:
        module = given if given.startswith(_BINARY) else bytes(wat2wasm(given))
        check_instantiations(module)
        component = Component(engine, module)
        imports = read_imports(engine, component)
        code = bytes(component.serialize())
        component.close()
        libc.malloc_trim(0)
        _try_instance(code, imports, own_status)
    except WasmtimeError as error:
        _say({"ok": False, "reason": str(error)[:500]})
    except GolemError as error:
        _say({"ok": False, "reason": error.detail[:500]})
    except MemoryError:
        _say({"ok": False, "reason": "compiling it takes more memory than a module may"})
    else:
        _say({"ok": True})
        sys.stdout.buffer.write(code)


def _try_instance(code: bytes, imports: Iterable[str], own_status: int) -> None:
    """Instantiate as a call does, with no more memory than the largest call may use. Raises ModuleRefused, MemoryError.

    A module that traps or uses up its fuel while it starts has its own code when it is called, and passes here.
    """
    from wasmtime import Store, WasmtimeError
    from wasmtime.component import Component, Linker

    from tools_app.sandbox.engine import make_engine
    from tools_app.sandbox.errors import ModuleRefused
    from tools_app.sandbox.interface import HOST

    most = limits_of(TickBudget.SLOW)
    ceiling = _count_data_bytes(own_status) + len(code) * 2 + most.memory_bytes * most.memories + _BESIDE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (_NO_CEILING, _NO_CEILING))
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, ceiling))
    engine = make_engine()
    store = Store(engine)
    store.set_fuel(most.fuel)
    store.set_limits(
        memory_size=most.memory_bytes,
        memories=most.memories,
        instances=most.instances,
        tables=most.tables,
        table_elements=most.table_elements,
    )
    store.set_epoch_deadline(_TRIAL_TICKS)
    linker = Linker(engine)
    with linker.root() as root, root.add_instance(HOST) as host:
        for function in sorted(imports):
            host.add_func(str(function), _stop)
    try:
        linker.instantiate(store, Component.deserialize(engine, code))
    except WasmtimeError as error:
        if any(word in str(error) for word in _NO_MEMORY):
            raise ModuleRefused("an instance of it takes more memory than a call may use") from None


def _stop(*_: object) -> NoReturn:
    from wasmtime import WasmtimeError

    raise WasmtimeError("nothing is called in a trial")


def _count_data_bytes(own_status: int) -> int:
    """What RLIMIT_DATA counts of this process now; no file is opened any more."""
    lines = os.pread(own_status, 1 << 16, 0).decode().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))


def _say(what: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()
