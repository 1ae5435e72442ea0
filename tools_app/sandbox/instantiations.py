"""Counts in a component's bytes how often it would instantiate its parts, before anything compiles them.

A component that instantiates another one twice, which instantiates the next one twice, is a few hundred bytes long, and
an engine unfolds all of it: while it compiles, and again in the memory of whoever runs it, outside every limit of a
store. Here nothing is unfolded. Each component is read once, and what its instance holds is added up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tools_app.sandbox.errors import ModuleRefused

MOST_INSTANCES: Final = 256
"""Instances of components and modules, those of a component's parts included. One of Python's has thirty."""
MOST_ENTRIES: Final = 20_000
"""What those instances make in all: functions lifted and lowered, names taken from another, groups of names."""
_MOST_DEPTH: Final = 32
_PREAMBLE: Final = b"\x00asm\x0d\x00\x01\x00"
_CORE_INSTANCE, _COMPONENT, _INSTANCE, _ALIAS, _CANON, _START, _IMPORT, _EXPORT = 2, 4, 5, 6, 8, 9, 10, 11
_COUNTED: Final = frozenset({_CORE_INSTANCE, _INSTANCE, _ALIAS, _CANON, _IMPORT, _EXPORT})
_SORT_CORE, _SORT_COMPONENT = 0, 4
_LONGEST_NUMBER: Final = 5


@dataclass(frozen=True, slots=True)
class Size:
    """What one instance of a component is made of, everything it instantiates included."""

    instances: int
    entries: int


@dataclass(slots=True)
class _Component:
    """One that is being read, and the sizes of the components it can name; None for one that it is handed."""

    instances: int = 1
    entries: int = 0
    known: list[Size | None] = field(default_factory=list)

    def add(self, size: Size) -> None:
        # What is beyond a bound is beyond it, however far: numbers stay small.
        self.instances = min(self.instances + size.instances, MOST_INSTANCES + 1)
        self.entries = min(self.entries + size.entries, MOST_ENTRIES + 1)


def check_instantiations(component: bytes) -> Size:
    """What one instance of `component` (binary) is made of. Raises ModuleRefused beyond a bound or for others."""
    size = _read_component(_BytesReader(component, 0, len(component)), [])
    if size.instances > MOST_INSTANCES:
        raise ModuleRefused(
            f"its parts would be instantiated more than {MOST_INSTANCES} times", most_instances=MOST_INSTANCES
        )
    if size.entries > MOST_ENTRIES:
        raise ModuleRefused(
            f"its instances would be made of more than {MOST_ENTRIES} functions and names", most_entries=MOST_ENTRIES
        )
    return size


class _BytesReader:
    """A part of the bytes, read from its beginning to its end and never beyond."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data = data
        self._at = at
        self._end = end

    @property
    def is_over(self) -> bool:
        return self._at >= self._end

    def take(self, count: int) -> bytes:
        if count > self._end - self._at:
            raise _unreadable()
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """An unsigned LEB128 of at most 32 bits; a signed one is passed over alike."""
        value = 0
        for place in range(_LONGEST_NUMBER):
            byte = self.byte()
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise _unreadable()

    def within(self, count: int) -> _BytesReader:
        """The next `count` bytes as a part of their own."""
        if count > self._end - self._at:
            raise _unreadable()
        inner = _BytesReader(self._data, self._at, self._at + count)
        self._at += count
        return inner

    def text(self) -> None:
        self.take(self.number())

    def name(self) -> None:
        """An import's or export's name: a kind, a text, and with some kinds what belongs to it."""
        kind = self.byte()
        if kind not in (0, 1):
            raise _unreadable()
        self.text()

    def sort(self) -> int:
        sort = self.byte()
        if sort == _SORT_CORE:
            self.byte()
        return sort


def _read_component(reader: _BytesReader, outer: list[_Component]) -> Size:
    if reader.take(len(_PREAMBLE)) != _PREAMBLE:
        raise ModuleRefused("it is no component")
    if len(outer) >= _MOST_DEPTH:
        raise ModuleRefused(f"its parts are nested more than {_MOST_DEPTH} deep", most_depth=_MOST_DEPTH)
    own = _Component()
    inside = [*outer, own]
    while not reader.is_over:
        kind = reader.byte()
        section = reader.within(reader.number())
        if kind == _COMPONENT:
            own.known.append(_read_component(section, inside))
        elif kind == _START:
            own.add(Size(0, 1))
        elif kind in _COUNTED:
            count = section.number()
            own.add(Size(0, count))
            for _ in range(count if kind != _CANON else 0):
                _READ[kind](section, inside)
    return Size(own.instances, own.entries)


def _read_core_instance(section: _BytesReader, inside: list[_Component]) -> None:
    if section.byte() == 0:
        inside[-1].add(Size(1, 0))
        section.number()
        for _ in range(section.number()):
            section.text()
            section.byte()
            section.number()
    else:
        for _ in range(section.number()):
            inside[-1].add(Size(0, 1))
            section.text()
            section.byte()
            section.number()


def _read_instance(section: _BytesReader, inside: list[_Component]) -> None:
    if section.byte() == 0:
        inside[-1].add(_find(inside[-1], section.number()))
        for _ in range(section.number()):
            section.text()
            section.sort()
            section.number()
    else:
        for _ in range(section.number()):
            inside[-1].add(Size(0, 1))
            section.name()
            section.sort()
            section.number()


def _read_alias(section: _BytesReader, inside: list[_Component]) -> None:
    sort, target = section.sort(), section.byte()
    first = section.number()
    if target in (0, 1):
        section.text()
        found: Size | None = None
    elif target == 2 and first < len(inside):
        at = section.number()
        within = inside[-1 - first].known
        found = within[at] if sort == _SORT_COMPONENT and at < len(within) else None
    else:
        raise _unreadable()
    if sort == _SORT_COMPONENT:
        inside[-1].known.append(found)


def _read_import(section: _BytesReader, inside: list[_Component]) -> None:
    section.name()
    if _read_type(section) == _SORT_COMPONENT:
        inside[-1].known.append(None)


def _read_export(section: _BytesReader, inside: list[_Component]) -> None:
    section.name()
    sort, at = section.sort(), section.number()
    if section.byte():
        _read_type(section)
    if sort == _SORT_COMPONENT:
        known = inside[-1].known
        known.append(known[at] if at < len(known) else None)


def _read_type(section: _BytesReader) -> int:
    """The sort of what an import or an export is said to be."""
    sort = section.byte()
    if sort == _SORT_CORE:
        section.byte()
    elif sort in (2, 3):
        # A bound: the same as another, or, of a type, a resource that has no number of its own.
        if section.byte() == 1 and sort == 3:
            return sort
        if sort == 2:
            raise _unreadable()
    section.number()
    return sort


def _find(component: _Component, at: int) -> Size:
    size = component.known[at] if at < len(component.known) else None
    if size is None:
        raise ModuleRefused("it instantiates a component that it is handed by another, which cannot be counted")
    return size


def _unreadable() -> ModuleRefused:
    return ModuleRefused("its bytes are no component that this server can read")


_READ: Final = {
    _CORE_INSTANCE: _read_core_instance,
    _INSTANCE: _read_instance,
    _ALIAS: _read_alias,
    _IMPORT: _read_import,
    _EXPORT: _read_export,
}
