"""Watches which steps a tool says while its cases are carried out: each that it declares is said in one of them.

What is read is what a person who waits is told: the events of the calls, which a test's own database holds. A tool is
judged with the last of its cases that a process carries out, so it does not matter in which order they come. Where a
run leaves out some of them, the tool is not judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef


class SaidSteps:
    """What was said so far in the cases of one file, each of which calls the tools named with it."""

    def __init__(self, cases: Mapping[str, Iterable[str]]) -> None:
        self._tools = {case: tuple(dict.fromkeys(tools)) for case, tools in cases.items()}
        self._left: dict[str, set[str]] = defaultdict(set)
        for case, tools in self._tools.items():
            for tool in tools:
                self._left[tool].add(case)
        self._said: dict[str, set[str]] = defaultdict(set)

    @contextmanager
    def heard(self, case: str) -> Iterator[None]:
        """Carry a case out inside. Fails where it is the last of a tool's and a step was never said."""
        yield
        wrong = self.end(case)
        assert not wrong, "\n".join(wrong)

    def end(self, case: str) -> list[str]:
        """Note what a case had its tools say; what is wrong with those whose cases were all carried out, in words."""
        told, wrong = read_said(), []
        for name in self._tools[case]:
            self._said[name] |= told.get(name, set())
            self._left[name].discard(case)
            if not self._left[name]:
                wrong += find_wrong_steps(REGISTRY.get(name), self._said[name])
        return wrong


def read_said() -> dict[str, set[str]]:
    """The steps that each tool said, by the events in the database."""
    said: dict[str, set[str]] = defaultdict(set)
    for payload in OutboxEvent.objects.filter(type=EventType.TOOL_UPDATE).values_list("payload", flat=True):
        said[payload["tool_name"]].add(payload["step_name"])
    return said


def find_wrong_steps(tool: ToolDef, said: set[str]) -> list[str]:
    """Where what a tool declares and what it said are not the same, in words."""
    declared = tool.progress_steps
    return [
        *(f"{tool.name} declares the step {step!r}, and no case has it said" for step in declared if step not in said),
        *(f"{tool.name} says the step {step!r}, which it does not declare" for step in sorted(said - {*declared})),
    ]
