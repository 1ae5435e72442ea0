"""A module's bytes become a component this process may run: compiled by another process, kept by their hash.

Machine code is taken from nobody but the process started here, or as kept under this installation's seal by one of its
processes: what is deserialized runs as it is.
"""

from __future__ import annotations

import hashlib
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wasmtime import WasmtimeError
from wasmtime.component import Component

from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.clock import Deadline
from tools_app.sandbox.compiled_code_store import KEPT_FROM_BYTES, compiling_alone, find_code, keep_code
from tools_app.sandbox.engine import engine_here
from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.inspection import read_imports
from tools_app.sandbox.interface import HostFunction
from tools_app.sandbox.limits import MEBIBYTE, compile_limits_of
from tools_app.sandbox.module_size import check_size

_ROOT: Final = Path(__file__).resolve().parents[2]
_MOST_KEPT: Final = 32
_MOST_KEPT_BYTES: Final = 256 * MEBIBYTE
_MOST_WORDS: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Compiled:
    """A component of this process's engine, the hash of the bytes it came from, what it imports, its code's bytes."""

    component: Component
    sha256: str
    imports: frozenset[HostFunction]
    code_bytes: int
    pid: int


_kept: OrderedDict[str, Compiled] = OrderedDict()
_lock = threading.Lock()


def hash_module(module: bytes) -> str:
    """SHA-256 of a module's bytes, in hex: its name everywhere."""
    return hashlib.sha256(module).hexdigest()


def find_compiled(sha256: str) -> Compiled | None:
    """What was compiled of the bytes with this hash, if this process or this installation still has it."""
    with _lock:
        known = _kept.get(sha256)
        if known is not None and known.pid == os.getpid():
            _kept.move_to_end(sha256)
            return known
    code = find_code(sha256)
    if code is None:
        return None
    try:
        return _take(sha256, code)
    except ModuleRefused:
        # Kept by an engine that is not this one any more: it is compiled again.
        return None


def compile_module(module: bytes) -> Compiled:
    """The component of `module` (a component, binary or as text). Raises ModuleRefused.

    It has a time of its own and not a tool's: a call that waited too long for it is an overrun, and the next one finds
    what was compiled.
    """
    check_size(len(module))
    sha256 = hash_module(module)
    known = find_compiled(sha256)
    if known is not None:
        return known
    if len(module) < KEPT_FROM_BYTES:
        return _take(sha256, _compile_outside(module))
    with compiling_alone():
        # Whoever held the lock before may have compiled this very module.
        known = find_compiled(sha256)
        if known is None:
            code = _compile_outside(module)
            known = _take(sha256, code)
            keep_code(sha256, code)
    return known


def _take(sha256: str, code: bytes) -> Compiled:
    engine = engine_here().engine
    try:
        component = Component.deserialize(engine, code)
    except WasmtimeError as error:
        raise ModuleRefused("its machine code does not fit this server") from error
    compiled = Compiled(component, sha256, read_imports(engine, component), len(code), os.getpid())
    with _lock:
        _kept[sha256] = compiled
        while len(_kept) > _MOST_KEPT or sum(each.code_bytes for each in _kept.values()) > _MOST_KEPT_BYTES:
            _kept.popitem(last=False)
    return compiled


def _compile_outside(module: bytes) -> bytes:
    limits = compile_limits_of(len(module))
    child = subprocess.Popen(  # noqa: S603  (our own program, with a number)
        [sys.executable, "-m", "tools_app.sandbox.compile_child", str(len(module))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    )
    try:
        told = _exchange(child, module, Deadline.after_ms(limits.seconds * 1000), limits.code_bytes)
    except TimeoutError:
        raise ModuleRefused(f"it takes longer than {limits.seconds} seconds to compile") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
    return _read_answer(told)


def _exchange(child: subprocess.Popen[bytes], module: bytes, deadline: Deadline, most_bytes: int) -> bytes:
    """Everything the child says, while it is fed. Raises TimeoutError, ModuleRefused for too much."""
    assert child.stdin is not None and child.stdout is not None
    os.set_blocking(child.stdin.fileno(), False)
    told, fed = bytearray(), 0
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdin, selectors.EVENT_WRITE)
        selector.register(child.stdout, selectors.EVENT_READ)
        while selector.get_map():
            if deadline.is_over:
                raise TimeoutError
            for key, _ in selector.select(deadline.remaining_ms() / 1000):
                if key.fileobj is child.stdin:
                    fed = _feed(child, module, fed, selector)
                    continue
                part = os.read(child.stdout.fileno(), 1 << 16)
                if not part:
                    selector.unregister(child.stdout)
                    return bytes(told)
                told += part
                if len(told) > most_bytes + _MOST_WORDS:
                    raise ModuleRefused("its machine code is too large", most_bytes=most_bytes)
    return bytes(told)


def _feed(child: subprocess.Popen[bytes], module: bytes, fed: int, selector: selectors.BaseSelector) -> int:
    assert child.stdin is not None
    try:
        fed += os.write(child.stdin.fileno(), module[fed : fed + (1 << 16)])
    except BrokenPipeError:
        fed = len(module)
    if fed >= len(module):
        selector.unregister(child.stdin)
        with suppress(OSError):
            child.stdin.close()
    return fed


def _read_answer(told: bytes) -> bytes:
    line, found, code = told.partition(b"\n")
    if not found:
        raise ModuleRefused("compiling it took more time or memory than a module may")
    try:
        words = read_json(line, most_bytes=_MOST_WORDS)
    except OutsideTextRefused:
        raise ModuleRefused("its compiler did not answer") from None
    match words:
        case {"ok": ok} if ok:
            return code
        case {"reason": reason}:
            raise ModuleRefused(str(reason))
    raise ModuleRefused("it is no component")
