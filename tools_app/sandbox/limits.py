"""Sets what one call of a module may use, and how large a module may be.

Eight MiB hold a module of Go's own compiler (4.2 MiB); one of Python (17.6 MiB) takes a server whose operator allows
more. What a compiler may use grows with the module: that of Python took 20 s of processor and 450 MB.

Ten million units of fuel took 7 ms of plain computation on the machine where this was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.toolkit.enums import TickBudget

MEBIBYTE: Final = 1024 * 1024
MOST_MODULE_MEBIBYTES: Final = 32
"""What no operator can raise."""
COMPILE_MEMORY_BYTES: Final = 1536 * MEBIBYTE
STACK_BYTES: Final = 512 * 1024


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Of one call: fuel in wasmtime's units, bytes of each linear memory, milliseconds, counts.

    A component made of parts has a memory for each; all of them together stay below the seed's 256 MB.
    """

    fuel: int
    milliseconds: int
    memory_bytes: int
    memories: int = 3
    instances: int = 64
    tables: int = 8
    table_elements: int = 10_000
    answer_bytes: int = 256 * 1024
    host_calls: int = 200
    host_bytes: int = 64 * 1024
    log_lines: int = 50
    action_requests: int = 4


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """Of one compilation: seconds of processor, seconds by the clock of a busy machine, bytes of machine code."""

    processor_seconds: int
    seconds: int
    code_bytes: int


_BY_BUDGET: Final = {
    TickBudget.FAST: CallLimits(fuel=10_000_000, milliseconds=1_000, memory_bytes=16 * MEBIBYTE),
    TickBudget.MEDIUM: CallLimits(fuel=100_000_000, milliseconds=5_000, memory_bytes=64 * MEBIBYTE),
    TickBudget.SLOW: CallLimits(fuel=500_000_000, milliseconds=15_000, memory_bytes=80 * MEBIBYTE),
}


def limits_of(budget: TickBudget) -> CallLimits:
    """What one call of a tool with this budget may use."""
    return _BY_BUDGET[budget]


def compile_limits_of(module_bytes: int) -> CompileLimits:
    """What compiling a module of this size may use: five seconds, and from 2 MiB on three more for each MiB."""
    beyond = max(0, -(-module_bytes // MEBIBYTE) - 2)
    return CompileLimits(5 + 3 * beyond, 20 + 6 * beyond, (32 + 2 * beyond) * MEBIBYTE)
