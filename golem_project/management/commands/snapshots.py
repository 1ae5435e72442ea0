"""`manage.py snapshots`: the OpenAPI document and the tools as files, so that a review sees every change.

Tools stand in one file a protocol with a line each and one for each parameter of their own; those that several tools
take alike stand once, in a file of their own. The document and the manifest stand in one line an endpoint and a Pi
tool. With `--check` nothing is written and a difference fails; `make check` runs that.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from drf_spectacular.generators import SchemaGenerator

from golem_project.pi.json_members import Member
from golem_project.pi.json_schema import ReadOnlySchema, Schema
from golem_project.pi.manifest import build_manifest
from golem_project.pi.released_shapes import describe_paths, find_broken, list_served, load_releases
from golem_project.pi.schema_lines import (
    describe_document,
    describe_manifest,
    describe_tool,
    find_shared,
    leave_out,
    name_home,
    put_back,
    render_lines,
    tell_differences,
)
from golem_project.settings.environment import BASE_DIR
from tools_app.core import clock
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.views import GolemView

TOOLS = "tools"
"""The folder of the tools' files."""
SHARED = "shared_parameters.json"
"""The parameters that many tools take alike, by name."""
DOCUMENT = "openapi.json"
MANIFEST = "pi_manifest.json"
FOLDER = BASE_DIR / "tests" / "snapshots"
# Another test writes and compares it.
_OF_ERRORS = "errors.json"
_MOST_DIFFERENCES = 60
_SHAPE = ("parameters", "required", "rest_of_schema")


@dataclass(frozen=True, slots=True)
class _StoredTool:
    """An entry of a tool, of what is compared here."""

    json: ReadOnlySchema

    schema_version = Member[int]("schema_version", int)
    parameters = Member[Schema]("parameters", dict)
    required = Member[list[str]]("required", list)
    old_shapes = Member[list[Schema]]("old_shapes", list)


class Command(BaseCommand):
    """Writes or checks the snapshots."""

    help = "Write the API and manifest snapshots, or with --check compare them with the code."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--check", action="store_true", help="fail when a snapshot differs from the code")
        group.add_argument("--write", action="store_true", help="write the snapshots (the default)")

    def handle(self, *args: object, **options: object) -> None:
        stale = []
        snapshots = build_snapshots()
        stored_tools, tools = read_stored_tools(), _list_tools(snapshots)
        unraised = find_unraised(stored=stored_tools, now=tools)
        if unraised:
            raise CommandError(
                f"the parameters of {', '.join(unraised)} changed and their schema_version did not rise. Fix: raise it"
            )
        unserved = find_unserved(stored=stored_tools, now=tools)
        if unserved:
            raise CommandError(
                f"calls of {', '.join(unserved)} that were valid no longer are, and the shape they had is not served."
                " Fix: declare it with used_to_take beside the tool"
            )
        broken = _list_broken()
        if broken:
            raise CommandError(
                f"clients of a version that is served would break: {'; '.join(broken)}. Fix: keep it, or serve its old"
                " shape with used_to_take beside the tool"
            )
        for name, content in snapshots.items():
            path = FOLDER / name
            text = render_lines(content)
            if options["check"]:
                stale += self._compare(name, text, snapshots[SHARED])
            elif not path.exists() or path.read_text(encoding="utf-8") != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                self.stdout.write(f"wrote {path.relative_to(BASE_DIR)}")
        for path in _list_files():
            name = path.relative_to(FOLDER).as_posix()
            if name in snapshots:
                continue
            if options["check"]:
                stale.append(name)
            else:
                path.unlink()
                self.stdout.write(f"removed {path.relative_to(BASE_DIR)}, which tells of nothing there is")
        if stale:
            raise CommandError(f"out of date: {', '.join(stale)}. Fix: manage.py snapshots, and review the difference")

    def _compare(self, name: str, text: str, shared: Mapping[str, object]) -> list[str]:
        """Tell each member that differs, in words."""
        path = FOLDER / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return []
        differences = tell_differences(read_stored(name), _put_back(json.loads(text), name, shared))
        for line in islice(differences, _MOST_DIFFERENCES):
            self.stderr.write(f"{name}: {line}")
        if next(differences, None):
            self.stderr.write(f"{name}: …")
        return [name]


def _list_broken() -> list[str]:
    document = SchemaGenerator().get_schema(request=None, public=True)
    paths = describe_paths(document)
    served = list_served(load_releases(), today=clock.now().date())
    return [
        f"{line} ({release.version})"
        for release in served
        for line in find_broken(release, registry=REGISTRY, paths=paths)
    ]


def build_snapshots() -> dict[str, dict[str, object]]:
    """Every snapshot by its file name: its entries by name, the same on every machine."""
    described = {tool.name: (f"{TOOLS}/{name_home(tool)}.json", describe_tool(tool)) for tool in REGISTRY}
    shared = find_shared(tool for _, tool in described.values())
    tools: dict[str, dict[str, object]] = defaultdict(dict)
    for name, (file, tool) in sorted(described.items()):
        tools[file][name] = leave_out(tool, shared)
    document = SchemaGenerator().get_schema(request=None, public=True)
    whole = {DOCUMENT: describe_document(document), MANIFEST: describe_manifest(_build_manifest())}
    return {**whole, SHARED: shared, **tools}


def find_unraised(*, stored: Mapping[str, ReadOnlySchema], now: Mapping[str, ReadOnlySchema]) -> list[str]:
    """Tools whose parameters are not those of the stored version, though the version is no higher."""
    return sorted(
        name
        for name, entry in now.items()
        if name in stored
        and any(entry.get(part) != stored[name].get(part) for part in _SHAPE)
        and _StoredTool(entry).schema_version <= _StoredTool(stored[name]).schema_version
    )


def find_unserved(*, stored: Mapping[str, ReadOnlySchema], now: Mapping[str, ReadOnlySchema]) -> list[str]:
    """Tools that lost a parameter or need one more than in `stored`, and do not serve what they took then."""
    broken = []
    for name, entry in now.items():
        if name not in stored:
            continue
        old, new = _StoredTool(stored[name]), _StoredTool(entry)
        if old.schema_version == new.schema_version:
            continue
        lost = set(old.parameters) - set(new.parameters)
        needed = set(new.required) - set(old.required)
        served = {_StoredTool(shape).schema_version for shape in new.old_shapes}
        if (lost or needed) and old.schema_version not in served:
            broken.append(name)
    return sorted(broken)


def read_stored(name: str) -> dict[str, Schema]:
    """The entries of a stored file, none of one that is not there; tools with every parameter they take.

    Raises CommandError for one that cannot be read.
    """
    path = FOLDER / name
    shared = FOLDER / SHARED
    try:
        entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return _put_back(entries, name, json.loads(shared.read_text(encoding="utf-8")) if shared.exists() else {})
    except (ValueError, KeyError, AttributeError, TypeError):
        raise CommandError(
            f"{name} cannot be read. Fix: take it, and {SHARED}, as they were last committed, then run this again"
        ) from None


def _put_back(entries: Schema, name: str, shared: Mapping[str, object]) -> dict[str, Schema]:
    is_of_tools = name.startswith(f"{TOOLS}/")
    return {each: put_back(entry, shared) if is_of_tools else entry for each, entry in entries.items()}


def _list_files() -> list[Path]:
    """The stored files that this command writes."""
    return sorted(path for path in FOLDER.glob("**/*.json") if path.name != _OF_ERRORS)


def read_stored_tools() -> dict[str, Schema]:
    """Every stored tool by its name, with all it takes. Raises CommandError for a file that cannot be read."""
    paths = sorted((FOLDER / TOOLS).glob("*.json"))
    return {name: entry for path in paths for name, entry in read_stored(f"{TOOLS}/{path.name}").items()}


def _list_tools(snapshots: Mapping[str, Mapping[str, object]]) -> dict[str, Schema]:
    """The tools of `snapshots` as they would be read from their files."""
    return {
        name: entry
        for file, content in snapshots.items()
        if file.startswith(f"{TOOLS}/")
        for name, entry in _put_back(json.loads(render_lines(content)), file, snapshots[SHARED]).items()
    }


def _build_manifest() -> dict[str, object]:
    """The manifest of a golem that has every tool there is."""
    golem = GolemView(
        id=UUID(int=0), name="Every tool", address=None, home_chain_id=31337, base_asset="USDC", phase=Phase.THRIVING
    )
    return build_manifest(golem=golem, toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=60).body
