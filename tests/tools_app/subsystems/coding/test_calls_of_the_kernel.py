"""Which calls of the kernel a command does not get to make: the filter's program, run here by a machine of our own.

Calls are named; their numbers are those of x86-64's table, written here once more.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import pytest

from tools_app.subsystems.coding.system_calls import write_filter

X86_64, X86_32 = 0xC000003E, 0x40000003
ALLOWED: Final = "allowed"
NOT_PERMITTED, UNKNOWN, NO_FAMILY = 1, 38, 97
NUMBERS: Final = {
    **{"unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428},
    **{"move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442},
    **{"add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "io_uring_setup": 425},
    **{"io_uring_enter": 426, "io_uring_register": 427, "userfaultfd": 323, "fanotify_init": 300},
    **{"lookup_dcookie": 212, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312},
    **{"process_madvise": 440, "pidfd_getfd": 438, "move_pages": 279, "migrate_pages": 256, "name_to_handle_at": 303},
    **{"open_by_handle_at": 304, "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246},
    **{"kexec_file_load": 320, "swapon": 167, "swapoff": 168, "reboot": 169, "acct": 163, "quotactl": 179},
    **{"quotactl_fd": 443, "syslog": 103, "iopl": 172, "ioperm": 173, "modify_ldt": 154, "settimeofday": 164},
    **{"clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159, "sethostname": 170, "setdomainname": 171},
    **{"vhangup": 153, "uselib": 134, "ustat": 136, "sysfs": 139, "_sysctl": 156, "create_module": 174},
    **{"get_kernel_syms": 177, "query_module": 178, "nfsservctl": 180, "memfd_secret": 447, "vmsplice": 278},
}
OF_HIDDEN_MEMORY: Final = {"memfd_create": 319, "shmget": 29, "semget": 64, "msgget": 68}
CLONE, CLONE3, SOCKET, SETSOCKOPT, LAST = 56, 435, 41, 54, 450


def decide(number: int, *args: int, architecture: int = X86_64, shows_all_memory: bool = False) -> int | str:
    """What the kernel answers: allowed, or the number of the error."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *args, *[0] * (6 - len(args)))
    steps = list(_list_steps(write_filter(shows_all_memory=shows_all_memory)))
    at = word = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x06:
            return ALLOWED if value == 0x7FFF0000 else _read_error(value)
        if code == 0x20:
            (word,) = struct.unpack_from("=I", data, value)
            continue
        is_so = {0x15: word == value, 0x25: word > value, 0x45: bool(word & value)}[code]
        at += then if is_so else otherwise


def _list_steps(program: bytes) -> Iterator[tuple[int, int, int, int]]:
    yield from struct.iter_unpack("=HBBI", program)


def _read_error(value: int) -> int:
    assert value >> 16 == 5
    return value & 0xFFFF


@pytest.mark.parametrize("shows_all_memory", [False, True])
def test_the_calls_that_are_named_are_refused_and_all_others_are_made(shows_all_memory: bool) -> None:
    refused = {*NUMBERS.values(), *(OF_HIDDEN_MEMORY.values() if shows_all_memory else ())}
    for number in range(LAST + 1):
        expected = UNKNOWN if number == CLONE3 else NOT_PERMITTED if number in refused else ALLOWED
        arguments = (1,) if number == SOCKET else ()
        assert decide(number, *arguments, shows_all_memory=shows_all_memory) == expected, number
    for number in (LAST + 1, 0x40000000, 0x40000000 | CLONE):
        assert decide(number) == UNKNOWN
    assert decide(0, architecture=X86_32) == UNKNOWN


def test_a_process_may_be_made_and_a_namespace_may_not() -> None:
    namespaces = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
    assert [decide(CLONE, flag) for flag in namespaces] == [NOT_PERMITTED] * len(namespaces)
    assert [decide(CLONE, flag) for flag in (0, 17, 0x00010000, 0x01000000, 0x80000000)] == [ALLOWED] * 5


def test_sockets_are_of_four_families() -> None:
    assert [family for family in range(64) if decide(SOCKET, family) == ALLOWED] == [1, 2, 10, 16]
    assert decide(SOCKET, 3) == decide(SOCKET, 40) == NO_FAMILY


def test_a_buffer_of_a_socket_grows_only_where_memory_is_counted_otherwise() -> None:
    def list_refused(level: int, *, shows_all_memory: bool) -> list[int]:
        asked = [decide(SETSOCKOPT, 3, level, option, shows_all_memory=shows_all_memory) for option in range(64)]
        assert set(asked) <= {ALLOWED, NOT_PERMITTED}
        return [option for option, answer in enumerate(asked) if answer == NOT_PERMITTED]

    assert list_refused(1, shows_all_memory=True) == [7, 8, 32, 33]
    assert list_refused(0, shows_all_memory=True) == list_refused(6, shows_all_memory=True) == []
    assert list_refused(1, shows_all_memory=False) == []
