"""Declares the members of a JSON object that are read, each with its type: `kind = Member[str]("type", str)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class HasJson(Protocol):
    """What is read by its members."""

    @property
    def json(self) -> Mapping[str, Any]:  # Any: JSON, whose members say their types
        """The whole object."""
        ...


class Member(Generic[T]):
    """One member as an attribute: its value itself, or what `empty` makes where the object does not have it."""

    def __init__(self, name: str, empty: Callable[[], T]) -> None:
        self._name = name
        self._empty = empty

    def __get__(self, whole: HasJson, owner: type) -> T:
        """The value. Its type is not checked: who wrote the JSON is known."""
        if self._name not in whole.json:
            return self._empty()
        value: T = whole.json[self._name]
        return value


def nothing() -> None:
    """What a member is that may be None, where it lacks."""
