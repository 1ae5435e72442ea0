"""Calls of the kernel that no command gets to make, as a filter (seccomp) that bwrap puts in force before it.

The filter is a program for the kernel's classic BPF machine, small enough to be written down here whole: no library has
to be on the machine, and a command never runs without it. What is refused answers as it does to whoever may not.
"""

from __future__ import annotations

import os
import struct
from typing import Final

_X86_64: Final = 0xC000003E
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _IS_EQUAL, _IS_ABOVE, _HAS_BITS, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_LAST_KNOWN: Final = 450
"""A kernel newer than this list may have calls of any kind beyond it; libraries do without them."""

REFUSED: Final = {
    "namespaces and mounts": (272, 308, 165, 166, 155, 161, 429, 428, 430, 431, 432, 433, 442),
    "keys of the kernel": (248, 249, 250),
    "programs in the kernel and rings of requests": (321, 298, 425, 426, 427, 323, 300, 212),
    "other processes": (101, 310, 311, 440, 312, 438, 279, 256),
    "files by number": (303, 304),
    "the machine": (
        *(175, 313, 176, 246, 320, 167, 168, 169, 163, 179, 443, 103, 172, 173, 154, 164, 227, 305, 159, 170, 171),
        *(153, 134, 136, 139, 156, 174, 177, 178, 180, 447, 278),
    ),
}
"""By what they reach, as x86-64 numbers them: unshare to mount_setattr; add_key to keyctl; bpf, perf events, io_uring,
userfaultfd, fanotify; ptrace, process_vm_*, kcmp, pidfd_getfd; file handles; modules, kexec, swap, reboot, quotas, the
log, ports, clocks, names.
"""
_MEMORY_THAT_NO_PROCESS_SHOWS: Final = (319, 29, 64, 68)
"""memfd_create, shmget, semget, msgget: where memory is bounded by adding up what is seen of each process."""
_CLONE, _CLONE3, _SOCKET, _SETSOCKOPT = 56, 435, 41, 54
_NEW_NAMESPACES: Final = 0x7E020000
_FAMILIES: Final = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, netlink. Other sockets, to the machine's host or its cryptography, know no network namespace."""
_SOL_SOCKET: Final = 1
_BUFFER_SIZES: Final = (7, 8, 32, 33)


def open_filter(*, shows_all_memory: bool) -> int:
    """A descriptor of the filter, to be handed to bwrap and closed. `shows_all_memory` refuses memory of no process."""
    descriptor = os.memfd_create("golem-calls")
    os.write(descriptor, write_filter(shows_all_memory=shows_all_memory))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def write_filter(*, shows_all_memory: bool) -> bytes:
    """The program."""
    refused = [number for numbers in REFUSED.values() for number in numbers]
    if shows_all_memory:
        refused += _MEMORY_THAT_NO_PROCESS_SHOWS
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_IS_EQUAL, _X86_64, then=1),
        _refuse(_ENOSYS),
        _step(_LOAD, _NUMBER_AT),
        # Calls of the 32-bit kind have their numbers far above.
        *(_step(_IS_ABOVE, _LAST_KNOWN, otherwise=1), _refuse(_ENOSYS)),
        # Its flags lie in memory, where a filter does not see them; libraries take the older one then.
        *(_step(_IS_EQUAL, _CLONE3, otherwise=1), _refuse(_ENOSYS)),
    ]
    for number in refused:
        steps += [_step(_IS_EQUAL, number, otherwise=1), _refuse(_EPERM)]
    steps += _within(_CLONE, [_argument(0), _step(_HAS_BITS, _NEW_NAMESPACES, otherwise=1), _refuse(_EPERM), _allow()])
    families = [_step(_IS_EQUAL, each, then=len(_FAMILIES) - at) for at, each in enumerate(_FAMILIES)]
    steps += _within(_SOCKET, [_argument(0), *families, _refuse(_EAFNOSUPPORT), _allow()])
    if shows_all_memory:
        sizes = [part for each in _BUFFER_SIZES for part in (_step(_IS_EQUAL, each, otherwise=1), _refuse(_EPERM))]
        is_of_sockets = [_argument(1), _step(_IS_EQUAL, _SOL_SOCKET, then=1), _allow()]
        steps += _within(_SETSOCKOPT, [*is_of_sockets, _argument(2), *sizes, _allow()])
    return b"".join([*steps, _allow()])


def _within(number: int, steps: list[bytes]) -> list[bytes]:
    """Steps for one call alone; the last of them ends the program."""
    return [_step(_IS_EQUAL, number, otherwise=len(steps)), *steps]


def _argument(which: int) -> bytes:
    """Load the lower half of an argument, which is all that the kernel reads of the ones looked at here."""
    return _step(_LOAD, _ARGUMENTS_AT + 8 * which)


def _refuse(error: int) -> bytes:
    return _step(_RETURN, _ERRNO | error)


def _allow() -> bytes:
    return _step(_RETURN, _ALLOW)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
