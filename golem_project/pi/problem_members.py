"""Reads the members of a refusal by name: what it says of itself, and what it tells of the call that would be right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from golem_project.pi.json_members import Member, nothing

Members = dict[str, Any]  # Any: a member of a problem is JSON, each code with its own
ReadOnlyMembers = Mapping[str, Any]  # Any: a member of a problem is JSON, each code with its own


@dataclass(frozen=True, slots=True)
class SuggestedCall:
    """A call of one of the eight tools, as a refusal tells it."""

    tool: str
    arguments: Members

    def to_json(self) -> Members:
        """The member that holds it."""
        return {"tool": self.tool, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class _SuggestedCallReader:
    json: ReadOnlyMembers

    tool = Member[str]("tool", str)
    arguments = Member[Members]("arguments", dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal (RFC 9457). A member that it does not have is empty."""

    json: ReadOnlyMembers

    code = Member[str]("code", str)
    detail = Member[str]("detail", str)
    recovery = Member[str]("recovery", str)
    status = Member[int]("status", int)
    rule = Member[object]("rule", str)
    scope = Member[object]("scope", str)
    fields = Member[Mapping[str, str] | list[str]]("fields", list)
    """What is wrong with each bad field, or the fields that were given twice."""
    allowed = Member[list[object]]("allowed", list)
    venues = Member[list[str]]("venues", list)
    suggestions = Member[list[str]]("suggestions", list)
    permit_id = Member[object]("permit_id", nothing)
    retry_after_seconds = Member[object]("retry_after_seconds", nothing)
    resets_at = Member[object]("resets_at", nothing)
    _next_call = Member[object]("next_call", nothing)
    _unfinished_call = Member[object]("unfinished_call", nothing)

    @property
    def faults(self) -> Mapping[str, str] | None:
        """What is wrong with each bad field; None where it does not say that."""
        return self.fields if isinstance(self.fields, Mapping) else None

    @property
    def has_call(self) -> bool:
        """Whether it tells a call already."""
        return bool(self._next_call or self._unfinished_call)


@dataclass(frozen=True, slots=True)
class Hints:
    """What is added to a refusal: the right call, or what is sure of it and what has to be said."""

    json: ReadOnlyMembers

    fill = Member[dict[str, Members]]("fill", dict)
    missing = Member[list[str]]("missing", list)
    extra = Member[list[str]]("extra", list)
    drops = Member[list[str]]("drops", list)
    _next_call = Member[ReadOnlyMembers | None]("next_call", nothing)
    _unfinished_call = Member[ReadOnlyMembers | None]("unfinished_call", nothing)

    @property
    def next_call(self) -> SuggestedCall | None:
        """The call that is accepted as it is."""
        return _read_call(self._next_call)

    @property
    def unfinished_call(self) -> SuggestedCall | None:
        """What is sure of the call."""
        return _read_call(self._unfinished_call)

    def without(self, *names: str) -> Members:
        """The members but those."""
        return {name: each for name, each in self.json.items() if name not in names}


def _read_call(told: ReadOnlyMembers | None) -> SuggestedCall | None:
    if told is None:
        return None
    call = _SuggestedCallReader(told)
    return SuggestedCall(call.tool, call.arguments)
