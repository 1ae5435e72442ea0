"""Finds the code that runs behind an address: its own, and that of its proxy, beacon or clone.

A proxy is recognised by its code, which holds the number of the slot it keeps its implementation in (EIP-1967, its
beacon, EIP-1822 and the slot of the first OpenZeppelin proxies), or, as a clone does (EIP-1167), the implementation's
address itself. What keeps it elsewhere is seen only by an engine that tells whose code ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.context import ChainReader, ReadCall

BEACON_SLOT: Final = 0xA3F0AD74E5423AEBFD80D3EF4346578335A9A72AEAEE59FF6CB3582B35133D50
IMPLEMENTATION_SLOTS: Final = (
    0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC,
    0xC5F16F0FCC639FA48A6947836D9850F504798523BF8C9A3A87D5876CF622BCF7,
    0x7050C9E0F4CA769C69BD3A8EF740BC37934F8E2C036E5A723FD8EE048ED3F8C3,
)
"""EIP-1967, EIP-1822, and what came before both."""
IMPLEMENTATION: Final = "function implementation() view returns (address)"
MOST_CONTRACTS: Final = 256
_ADDRESS: Final = (1 << 160) - 1
_LARGEST_PRECOMPILE: Final = 0xFFFF
# A clone is all of its code: push the address, delegate, and return or revert.
_LONGEST_CLONE: Final = 128
_CLONED: Final = re.compile(rb"\x73(.{20})(?:\x5a|.\x5a)?\xf4", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Kept:
    """`RunningCode` as `as_dict` keeps it."""

    roots: tuple[str, ...]
    codes: dict[str, str]
    slots: tuple[tuple[str, str, str], ...]
    beacons: dict[str, str]
    ran: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CodeChange:
    """One thing that is not as it was: `what` of `address`, as text."""

    address: str
    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class RunningCode:
    """Keccak-256 of the code by address, words of proxies' slots, and what each beacon names; `roots` were asked for.

    `ran` are the pairs (account, whose code ran there) that an engine saw where the two differ.
    """

    roots: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[tuple[str, int], int] = field(default_factory=dict)
    beacons: Mapping[str, str] = field(default_factory=dict)
    ran: tuple[tuple[str, str], ...] = ()

    def ask_ahead(self) -> Questions:
        """What has to be read to see whether all of it is as it was: one round trip."""
        return Questions(tuple(self.codes), tuple(self.slots), tuple(self.beacons))

    def find_changes(self, now: RunningCode) -> tuple[CodeChange, ...]:
        """What differs `now`: whom proxies name before the codes, of which those that nobody names now are unread."""
        found = []
        for (address, slot), before in self.slots.items():
            if (word := now.slots.get((address, slot))) != before:
                what = "beacon" if slot == BEACON_SLOT else "implementation"
                found.append(CodeChange(address, what, _name(before), _name(word)))
        found += [
            CodeChange(beacon, "implementation", before, now.beacons.get(beacon, "unread"))
            for beacon, before in self.beacons.items()
            if now.beacons.get(beacon) != before
        ]
        found += [
            CodeChange(address, "code", before, now.codes.get(address, "unread"))
            for address, before in self.codes.items()
            if now.codes.get(address) != before
        ]
        return tuple(found)

    def find_strangers(self, ran: Iterable[tuple[str, str]]) -> tuple[CodeChange, ...]:
        """Whose code ran for an account that was seen to run other code before. Empty where no engine told either."""
        before: dict[str, list[str]] = {}
        for account, code in self.ran:
            before.setdefault(account, []).append(code)
        return tuple(
            CodeChange(account, "implementation", ", ".join(before[account]), code)
            for account, code in ran
            if account != code and account in before and code not in before[account]
        )

    def as_dict(self) -> JsonObject:
        """JSON-ready; slots and words as hex."""
        return {
            "roots": list(self.roots),
            "codes": dict(self.codes),
            "slots": [[address, f"0x{slot:064x}", f"0x{word:064x}"] for (address, slot), word in self.slots.items()],
            "beacons": dict(self.beacons),
            "ran": [list(pair) for pair in self.ran],
        }

    @classmethod
    def of_dict(cls, kept: Mapping[str, Any]) -> RunningCode:  # Any: JSON of a file of ours
        """What `as_dict` kept. Raises ValueError for anything else."""
        told = read_stored(_Kept, kept)
        return cls(
            roots=told.roots,
            codes=told.codes,
            slots={(address, int(slot, 16)): int(word, 16) for address, slot, word in told.slots},
            beacons=told.beacons,
            ran=told.ran,
        )


@dataclass(frozen=True, slots=True)
class Questions:
    """Codes, slots and beacons to read together."""

    contracts: tuple[str, ...] = ()
    slots: tuple[tuple[str, int], ...] = ()
    beacons: tuple[str, ...] = ()

    @property
    def calls(self) -> list[ReadCall]:
        """What beacons are asked."""
        return [ReadCall(beacon, IMPLEMENTATION) for beacon in self.beacons]


def read_running_code(
    chain: ChainReader, addresses: Iterable[str], *, ran: Sequence[tuple[str, str]] = ()
) -> RunningCode:
    """Follow every one of `addresses` to the code that runs there. A round trip for each step that was not preloaded.

    Precompiles are left out; an account without code counts as one, so that code which appears there is a change.
    Raises ValueError for more than MOST_CONTRACTS, and the node errors.
    """
    roots = tuple(dict.fromkeys(checksum(each) for each in addresses if int(each, 16) > _LARGEST_PRECOMPILE))
    codes: dict[str, str] = {}
    slots: dict[tuple[str, int], int] = {}
    beacons: dict[str, str] = {}
    level: Sequence[str] = roots
    while level:
        if len(codes) + len(level) > MOST_CONTRACTS:
            raise ValueError(f"more than {MOST_CONTRACTS} contracts")
        chain.preload(contracts=level)
        held = {address: chain.code(address) for address in level}
        codes |= {address: hash_code(code) for address, code in held.items()}
        asked = [(address, slot) for address, code in held.items() for slot in list_slots(code)]
        chain.preload(slots=asked)
        words = {(address, slot): chain.slot(address, slot) for address, slot in asked}
        slots |= words
        named = {slot[0]: _name(word) for slot, word in words.items() if slot[1] == BEACON_SLOT and word & _ADDRESS}
        answers = chain.call_many([ReadCall(beacon, IMPLEMENTATION) for beacon in named.values()])
        for beacon, answer in zip(named.values(), answers, strict=True):
            beacons[beacon] = checksum(answer.values[0]) if answer.ok else "nothing"
        behind = [
            *(_name(word) for word in words.values() if word & _ADDRESS),
            *(target for code in held.values() if (target := find_cloned(code)) is not None),
            *(beacons[beacon] for beacon in named.values() if beacons[beacon] != "nothing"),
        ]
        level = [each for each in dict.fromkeys(behind) if each not in codes]
    return RunningCode(roots, codes, slots, beacons, tuple(pair for pair in ran if pair[0] != pair[1]))


@lru_cache(maxsize=1_024)
def hash_code(code: bytes) -> str:
    """Keccak-256 as 0x-hex."""
    return "0x" + keccak(code).hex()


@lru_cache(maxsize=1_024)
def list_slots(code: bytes) -> tuple[int, ...]:
    """The slots that a proxy of this code keeps an implementation or a beacon in; empty for any other contract."""
    return tuple(slot for slot in (*IMPLEMENTATION_SLOTS, BEACON_SLOT) if slot.to_bytes(32, "big") in code)


def find_delegate(code: bytes) -> str | None:
    """To whose code a plain account delegated itself (EIP-7702); None for any other code, and none."""
    return checksum("0x" + code[3:].hex()) if len(code) == 23 and code[:3] == b"\xef\x01\x00" else None


def find_cloned(code: bytes) -> str | None:
    """The contract whose clone this is, or to whom an account delegated itself (EIP-7702); None for other code."""
    if len(code) > _LONGEST_CLONE:
        return None
    if (delegate := find_delegate(code)) is not None:
        return delegate
    found = _CLONED.search(code)
    return checksum("0x" + found[1].hex()) if found is not None else None


def _name(word: int | None) -> str:
    return "unread" if word is None else checksum(f"0x{word & _ADDRESS:040x}")
