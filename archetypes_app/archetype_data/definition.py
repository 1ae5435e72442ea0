"""The shape of one built-in archetype."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.toolkit.enums import Category


@dataclass(frozen=True, slots=True)
class BuiltinArchetype:
    """One archetype: its tools by category or profile, whom it may ask, and its prompt.

    `includes` are tools it keeps beside its categories, also where it is read-only; names that no tool bears yet wait
    for theirs. `stands_on` is what its role asks for beyond its categories' having tools at all: in words, and the
    tools without which it cannot; who reads of the archetype is told as long as one is missing.
    """

    name: str
    description: str
    category: str
    inference_tier: str
    role: str
    expertise: tuple[str, ...]
    safety_rules: tuple[str, ...]
    workflow: str
    output_format: str
    tool_categories: frozenset[Category] = frozenset()
    profiles: tuple[str, ...] = ()
    delegates_to: tuple[str, ...] = ()
    is_terminal_node: bool = False
    is_read_only: bool = False
    keeps_local_writes: bool = False
    includes: tuple[str, ...] = ()
    stands_on: tuple[tuple[str, tuple[str, ...]], ...] = ()


REVIEWERS = ("safety-guardian", "risk-assessor")
"""The delegates of an archetype whose own were never recorded."""
