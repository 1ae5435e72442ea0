"""`manage.py snapshots`: the OpenAPI document and the tools as files, so that a review sees every change.

Tools stand in one file a protocol, the document in one an endpoint and one for the bodies of a protocol's tools. With
`--check` nothing is written and a difference fails; `make check` runs that.
"""

from __future__ import annotations

import difflib
import json
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from drf_spectacular.generators import SchemaGenerator

from golem_project.pi.manifest import build_manifest, describe_route, hash_schema
from golem_project.pi.openapi_parts import split_document
from golem_project.settings.environment import BASE_DIR
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef
from tools_app.toolkit.toolset import Toolset
from tools_app.toolkit.views import GolemView

VERSIONS = "tool_versions.json"
TOOLS = "tools"
"""The folder of the tools' files."""
OPENAPI = "openapi"
"""The folder of the document's parts."""
FOLDER = BASE_DIR / "tests" / "snapshots"
_MOST_DIFF_LINES = 60


class Command(BaseCommand):
    """Writes or checks the snapshots."""

    help = "Write the API and manifest snapshots, or with --check compare them with the code."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--check", action="store_true", help="fail when a snapshot differs from the code")
        group.add_argument("--write", action="store_true", help="write the snapshots (the default)")

    def handle(self, *args: Any, **options: Any) -> None:
        stale = []
        snapshots = build_snapshots()
        unraised = find_unraised(stored=_read_stored(VERSIONS), now=snapshots[VERSIONS])
        if unraised:
            raise CommandError(
                f"the parameters of {', '.join(unraised)} changed and their schema_version did not rise. Fix: raise it"
            )
        unserved = find_unserved(stored=_read_stored_tools(), now=_list_tools(snapshots))
        if unserved:
            raise CommandError(
                f"calls of {', '.join(unserved)} that were valid no longer are, and the shape they had is not served."
                " Fix: declare it with used_to_take beside the tool"
            )
        for name, content in snapshots.items():
            path = FOLDER / name
            text = render_snapshot(content)
            if options["check"]:
                stale += self._compare(name, text)
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

    def _compare(self, name: str, text: str) -> list[str]:
        path = FOLDER / name
        stored = path.read_text(encoding="utf-8") if path.exists() else ""
        if stored == text:
            return []
        lines = difflib.unified_diff(
            stored.splitlines(), text.splitlines(), f"{name} (stored)", f"{name} (code)", lineterm="", n=2
        )
        for number, line in enumerate(lines):
            if number == _MOST_DIFF_LINES:
                self.stderr.write("…")
                break
            self.stderr.write(line)
        return [name]


def build_snapshots() -> dict[str, Any]:
    """Every snapshot by its file name, JSON-ready and the same on every machine."""
    tools = defaultdict(list)
    for tool in sorted(REGISTRY, key=lambda tool: tool.name):
        tools[f"{TOOLS}/{name_home(tool)}.json"].append(_describe_tool(tool))
    document = SchemaGenerator().get_schema(request=None, public=True)
    parts = split_document(document, name_home)
    return {
        **{f"{OPENAPI}/{name}.json": part for name, part in parts.items()},
        "pi_manifest.json": _build_pi_manifest(),
        VERSIONS: {tool.name: describe_version(tool) for tool in REGISTRY},
        **tools,
    }


def name_home(tool: ToolDef) -> str:
    """The folder of the protocol or subsystem a tool lies in, else its app: `lending`, `stream`, `memory`."""
    app, *rooms = tool.handler.__module__.split(".")
    return rooms[1] if rooms[0] in ("protocols", "subsystems") else app.removesuffix("_app")


def describe_version(tool: ToolDef) -> dict[str, Any]:
    """A tool's version and the digest of its parameters, which it stands for."""
    return {"schema_version": tool.schema_version, "schema_hash": hash_schema(tool.schema)}


def find_unraised(*, stored: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Tools whose parameters are not those of the stored version, though the version is no higher."""
    return sorted(
        name
        for name, entry in now.items()
        if name in stored
        and entry["schema_hash"] != stored[name]["schema_hash"]
        and entry["schema_version"] <= stored[name]["schema_version"]
    )


def find_unserved(*, stored: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> list[str]:
    """Tools that lost a parameter or need one more than in `stored`, and do not serve what they took then."""
    before = {entry["tool"]: entry for entry in stored}
    broken = []
    for entry in now:
        old = before.get(entry["tool"])
        if old is None or old["schema_version"] == entry["schema_version"]:
            continue
        lost = set(old["parameters"]["properties"]) - set(entry["parameters"]["properties"])
        needed = set(entry["parameters"].get("required", ())) - set(old["parameters"].get("required", ()))
        served = {shape["schema_version"] for shape in entry.get("old_shapes", ())}
        if (lost or needed) and old["schema_version"] not in served:
            broken.append(entry["tool"])
    return sorted(broken)


def _read_stored(name: str) -> Any:
    path = FOLDER / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _list_files() -> list[Path]:
    """The stored files of tools and of parts of the document."""
    return sorted(path for folder in (TOOLS, OPENAPI) for path in (FOLDER / folder).glob("**/*.json"))


def _read_stored_tools() -> list[dict[str, Any]]:
    paths = sorted((FOLDER / TOOLS).glob("*.json"))
    return [entry for path in paths for entry in json.loads(path.read_text(encoding="utf-8"))]


def _list_tools(snapshots: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [entry for name, entries in snapshots.items() if name.startswith(f"{TOOLS}/") for entry in entries]


def render_snapshot(content: Any) -> str:
    """JSON text with one member a line."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, default=str) + "\n"


def _describe_tool(tool: ToolDef) -> dict[str, Any]:
    route = describe_route(tool)
    route["key"] = route.pop("action_type", None) or route.pop("query")
    return {
        **route,
        "kind": type(tool).__name__,
        "prefix": tool.prefix,
        "risk_layer": int(tool.risk_layer),
        "budget": tool.tick_budget.name,
        "sprite_trigger": tool.sprite_trigger.value,
        "requires": sorted(requirement.value for requirement in tool.requires),
        "aliases": sorted(tool.aliases),
    }


def _build_pi_manifest() -> dict[str, Any]:
    """The manifest of a golem that has every tool there is; what a tool's own file says of it is only named."""
    golem = GolemView(
        id=UUID(int=0), name="Every tool", address=None, home_chain_id=31337, base_asset="USDC", phase=Phase.THRIVING
    )
    body = build_manifest(golem=golem, toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=60).body
    return {**body, **{part: [route.get("tool", route) for route in body[part]] for part in ("actions", "queries")}}
