"""The process that compiles: takes a module on its input, gives machine code on its output, and ends.

It limits itself before it reads the first byte, so a module made to blow up a compiler ends this process and no other.
Its one argument is the module's size in bytes. Output: one line of JSON ({"ok": true} or {"ok": false, "reason": ...}),
then the code. Run with -m; imports the sandbox and nothing of Django.
"""

from __future__ import annotations

import json
import resource
import sys

from tools_app.sandbox.limits import COMPILE_MEMORY_BYTES, compile_limits_of


def main() -> None:
    """One module."""
    size = int(sys.argv[1])
    for which, most in (
        (resource.RLIMIT_CPU, compile_limits_of(size).processor_seconds),
        (resource.RLIMIT_AS, COMPILE_MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(which, (most, most))
    # Loading the compiler opens its library, which is done before files are forbidden to be opened.
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    from tools_app.core.errors import GolemError
    from tools_app.sandbox.engine import make_engine
    from tools_app.sandbox.inspection import read_imports

    engine = make_engine()
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    module = sys.stdin.buffer.read(size)
    try:
        component = Component(engine, module)
        read_imports(engine, component)
        code = bytes(component.serialize())
    except WasmtimeError as error:
        _say({"ok": False, "reason": str(error)[:500]})
    except GolemError as error:
        _say({"ok": False, "reason": error.detail[:500]})
    except MemoryError:
        _say({"ok": False, "reason": "compiling it takes more memory than a module may"})
    else:
        _say({"ok": True})
        sys.stdout.buffer.write(code)


def _say(what: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()
