"""What one call of a module may use, by the tool's budget; and what a module itself may be.

Two MiB hold an interpreter of JavaScript (QuickJS, 1.1 MiB); one of Python (18 MiB) does not compile within what a
compiler may use.

Ten million units of fuel took 7 ms of plain computation on the machine where this was measured.
Seed: 002, "WASM sandbox for untrusted tools" (10 million units, 5 seconds, 256 MB at most).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.toolkit.enums import TickBudget

MOST_MODULE_BYTES: Final = 2 * 1024 * 1024
MOST_COMPILED_BYTES: Final = 32 * 1024 * 1024
COMPILE_CPU_SECONDS: Final = 5
COMPILE_WALL_SECONDS: Final = 20.0
COMPILE_MEMORY_BYTES: Final = 1536 * 1024 * 1024
STACK_BYTES: Final = 512 * 1024
MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Of one call: fuel in wasmtime's units, bytes of each linear memory, milliseconds, counts.

    A component made of parts has a memory for each; all of them together stay below the seed's 256 MB.
    """

    fuel: int
    milliseconds: int
    memory_bytes: int
    memories: int = 3
    instances: int = 16
    tables: int = 8
    table_elements: int = 10_000
    answer_bytes: int = 256 * 1024
    host_calls: int = 200
    host_bytes: int = 64 * 1024
    log_lines: int = 50
    action_requests: int = 4


_BY_BUDGET: Final = {
    TickBudget.FAST: CallLimits(fuel=10_000_000, milliseconds=1_000, memory_bytes=16 * MEBIBYTE),
    TickBudget.MEDIUM: CallLimits(fuel=100_000_000, milliseconds=5_000, memory_bytes=64 * MEBIBYTE),
    TickBudget.SLOW: CallLimits(fuel=500_000_000, milliseconds=15_000, memory_bytes=80 * MEBIBYTE),
}


def limits_of(budget: TickBudget) -> CallLimits:
    """What one call of a tool with this budget may use."""
    return _BY_BUDGET[budget]
