"""docs/map.md: the rooms of the product, which way they point, and the way of one action, read from the code.

`python -m tests.architecture.map_page` writes it; a test compares.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Final

import grimp

from tests.architecture.sources import ROOT

PAGE: Final = ROOT / "docs" / "map.md"
APPS: Final = ("golem_project", "permits_app", "memory_app", "archetypes_app", "tools_app")
_BESIDE: Final = {"migrations", "management", "__pycache__"}

PREVIEW: Final = (
    "golem_project.pi.views.PreviewActionView",
    "permits_app.doors.request_preview.request_preview",
    "permits_app.tasks.preview_action_task",
    "permits_app.actions.preview.preview_action",
    "tools_app.select_tool_for_venue.resolve_action",
    "tools_app.runner.build_plan",
    "permits_app.safety.run_preview_hooks.judge_call",
    "permits_app.safety.hook_chain.run",
    "permits_app.permits.permit_hashes.hash_simulation",
    "permits_app.limits.ledger.reserve",
)
COMMIT: Final = (
    "golem_project.pi.views.CommitActionView",
    "permits_app.doors.request_commit.request_commit",
    "permits_app.actions.start_commit.start_commit",
    "permits_app.doors.hand_to_worker.hand_to_worker",
    "permits_app.tasks.commit_permit_task",
    "permits_app.actions.commit_in_turn.commit_in_turn",
    "permits_app.actions.commit.commit_permit",
    "permits_app.execution.executor.execute",
    "permits_app.execution.payloads.store_payload",
    "permits_app.execution.payloads.send_payload",
    "permits_app.execution.chain_follower.Follower",
    "permits_app.execution.finish_permit.finish",
    "permits_app.actions.remember_outcome.remember_outcome",
)


def write_page() -> str:
    """The page's text."""
    graph = grimp.build_graph(*APPS, cache_dir=None)
    parts = [
        "# The map\n",
        "Written by `.venv/bin/python -m tests.architecture.map_page` from the code; a test compares. What each word",
        "means is in the [glossary](glossary.md), how a day of work goes in [CONTRIBUTING](../CONTRIBUTING.md).\n",
        "## The apps\n",
        "An arrow points to what is imported. None points up; `lint-imports` keeps it so.\n",
        _draw(_list_arrows(graph, APPS)),
        "\n## The way of one action\n",
        "A preview, from the agent's request to a permit that is bound to a simulation:\n",
        *_list_steps(PREVIEW),
        "\nA commit, from the permit to an outcome and a memory of it:\n",
        *_list_steps(COMMIT),
    ]
    for app in APPS:
        parts += ["", *_describe_app(graph, app)]
    return "\n".join(parts) + "\n"


def find_named(name: str) -> object:
    """The class or function of this dotted name. Raises AttributeError, ModuleNotFoundError."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def _list_steps(names: tuple[str, ...]) -> list[str]:
    lines = []
    for number, name in enumerate(names, 1):
        found = find_named(name)
        found = getattr(found, "run", found) if not inspect.isclass(found) else found
        path = Path(inspect.getsourcefile(inspect.unwrap(found)) or "").relative_to(ROOT)  # type: ignore[arg-type]
        said = (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")
        lines.append(f"{number}. [`{name.rpartition('.')[2]}`](../{path}): {_first_sentence(said)}")
    return lines


def _describe_app(graph: grimp.ImportGraph, app: str) -> list[str]:
    rooms = _list_rooms(app)
    lines = [f"## {app}\n", _say(importlib.import_module(app)), "", "| Room | What it is for |", "| --- | --- |"]
    for room in rooms:
        words = _say(importlib.import_module(room))
        lines.append(f"| [`{_short(room)}`](../{room.replace('.', '/')}) | {words} |")
    loose = [f"| [`{path.stem}`](../{path.relative_to(ROOT)}) | {_say_file(path)} |" for path in _list_loose(app)]
    return [
        *lines,
        "",
        _draw(_list_arrows(graph, rooms)),
        "",
        "| File beside them | What it is |",
        "| --- | --- |",
        *loose,
    ]


def _list_rooms(app: str) -> tuple[str, ...]:
    """The packages of an app, by name."""
    found = (path.parent.name for path in (ROOT / app).glob("*/__init__.py"))
    return tuple(f"{app}.{name}" for name in sorted(found) if name not in _BESIDE)


def _list_loose(app: str) -> list[Path]:
    """The files of an app that lie in no room, by name."""
    return sorted(path for path in (ROOT / app).glob("*.py") if path.stem != "__init__")


def _list_arrows(graph: grimp.ImportGraph, rooms: tuple[str, ...]) -> list[tuple[str, str]]:
    """Which room imports which."""
    room_of = {module: room for room in rooms for module in (room, *graph.find_descendants(room))}
    found = set()
    for module, here in room_of.items():
        there = {room_of.get(imported, here) for imported in graph.find_modules_directly_imported_by(module)}
        found |= {(here, each) for each in there - {here}}
    return sorted(found)


def _draw(arrows: list[tuple[str, str]]) -> str:
    lines = [f"    {_short(here)} --> {_short(there)}" for here, there in arrows]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def _short(room: str) -> str:
    return room.rpartition(".")[2]


def _say(module: ModuleType) -> str:
    """The first sentence of a package's docstring."""
    return _say_file(Path(module.__path__[0]) / "__init__.py")


def _say_file(path: Path) -> str:
    """The first sentence of a module's docstring."""
    source = ast.parse(path.read_text())
    return _first_sentence((ast.get_docstring(source) or "").split("\n\n")[0].replace("\n", " "))


def _first_sentence(text: str) -> str:
    words = text.split()
    ends = (number for number, word in enumerate(words, 1) if word.endswith("."))
    return " ".join(words[: next(ends, None)]).replace("|", "\\|")


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.test")
    django.setup()
    PAGE.write_text(write_page(), encoding="utf-8")
