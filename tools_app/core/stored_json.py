"""Reads the JSON of a column into a frozen dataclass and writes it back: the one codec of such columns.

A column names its type; the type's fields are the keys. A field with a default may lack in an earlier row, a key that
the type does not know is left out. An integer that a double would round is an `IntText`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar

from pydantic import PlainSerializer, TypeAdapter

IntText = Annotated[int, PlainSerializer(str, return_type=str)]
"""An integer that is stored as decimal text."""

T = TypeVar("T")
_ADAPTERS: Final[dict[type, TypeAdapter[Any]]] = {}  # Any: adapters of every type stand in it


def read_stored(kind: type[T], stored: object) -> T:
    """The value that was stored. Raises ValueError naming the field that is none of its type."""
    adapter: TypeAdapter[T] = _adapt(kind)
    # A view of a dict is none to pydantic.
    return adapter.validate_python(dict(stored) if isinstance(stored, MappingProxyType) else stored)


def write_stored(value: object) -> dict[str, object]:
    """The value as JSON, as `read_stored` takes it."""
    written: dict[str, object] = _adapt(type(value)).dump_python(value, mode="json")
    return written


def _adapt(kind: type) -> TypeAdapter[Any]:  # Any: as above
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
