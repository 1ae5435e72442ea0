"""Sets how deep Python may recurse: deeper while contracts run.

py-evm and py_ecc raise the limit of the whole process for good when they are first imported, to a depth at which a
recursive parser of the standard library ends the process instead of raising RecursionError. So their import puts it
back, whoever asks for it and whenever; and where contracts call each other, which takes several frames a call and
1,024 calls at most, the limit is raised for as long as any thread runs one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

DEEP: Final = 12 * 1024
"""py-evm's own figure for 1,024 calls inside each other."""

_RAISING: Final = frozenset({"eth", "py_ecc"})
_lock = threading.Lock()


class _Depth:
    """How many threads run contracts, and the limit they found."""

    running = 0
    usual = 0


@contextmanager
def deep_calls() -> Iterator[None]:
    """Let this and every other thread that runs contracts recurse as deep as they may call."""
    with _lock:
        if not _Depth.running:
            _Depth.usual = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_Depth.usual, DEEP))
        _Depth.running += 1
    try:
        yield
    finally:
        with _lock:
            _Depth.running -= 1
            if not _Depth.running:
                sys.setrecursionlimit(_Depth.usual)


def keep_limit_across_imports() -> None:
    """From now on the two libraries leave the limit as they found it. Called once, when the product is imported."""
    if not any(isinstance(finder, _KeepingFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _KeepingFinder())


class _KeepingFinder:
    """Finds the two libraries where they are, with a loader that puts the limit back."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the usual finder finds; None for every other module."""
        if name not in _RAISING:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_quietly(module: ModuleType) -> None:
                before = sys.getrecursionlimit()
                try:
                    load(module)
                finally:
                    with _lock:
                        sys.setrecursionlimit(max(before, DEEP) if _Depth.running else before)

            spec.loader.exec_module = load_quietly  # type: ignore[method-assign]
        return spec
