"""The one engine of a process: how modules are compiled and what interrupts them. The only place with a Config.

`consume_fuel` counts instructions; the epoch is a clock of its own, since a host call or a costly instruction takes
more time than fuel. A thread raises it every few milliseconds while anything runs.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from wasmtime import Config, Engine

from tools_app.sandbox.limits import STACK_BYTES

EPOCH_MS: Final = 5


def make_engine() -> Engine:
    """An engine without the proposals nobody needs; equal in the process that compiles and in the one that runs."""
    config = Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = STACK_BYTES
    config.cranelift_nan_canonicalization = True
    config.parallel_compilation = False
    config.wasm_component_model = True
    # A heap of objects would grow beside the linear memory that is limited.
    config.wasm_gc = False
    config.gc_support = False
    config.wasm_function_references = False
    config.wasm_exceptions = False
    config.wasm_stack_switching = False
    config.wasm_threads = False
    config.shared_memory = False
    config.wasm_memory64 = False
    # What glues the parts of one component together copies from one memory to another; the store counts them all.
    config.wasm_multi_memory = True
    config.wasm_custom_page_sizes = False
    config.wasm_relaxed_simd = False
    return Engine(config)


class _Clock:
    """Raises the epoch of one engine while calls run; sleeps when none does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._running = 0
        self._wanted = threading.Condition()
        threading.Thread(target=self._tick, name="wasm-epoch", daemon=True).start()

    @contextmanager
    def ticking(self) -> Iterator[None]:
        """Inside, the epoch rises."""
        with self._wanted:
            self._running += 1
            self._wanted.notify()
        try:
            yield
        finally:
            with self._wanted:
                self._running -= 1

    def _tick(self) -> None:
        while True:
            with self._wanted:
                while not self._running:
                    self._wanted.wait()
            time.sleep(EPOCH_MS / 1000)
            self._engine.increment_epoch()


class EngineOfProcess:
    """The engine and its clock. A forked child gets its own: the thread of its parent's is not there."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.engine = make_engine()
        self.clock = _Clock(self.engine)


_lock = threading.Lock()
_here: EngineOfProcess | None = None


def engine_here() -> EngineOfProcess:
    """This process's engine, made at the first call."""
    global _here
    with _lock:
        if _here is None or _here.pid != os.getpid():
            _here = EngineOfProcess()
        return _here


def _forget() -> None:
    global _here, _lock
    _here, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
