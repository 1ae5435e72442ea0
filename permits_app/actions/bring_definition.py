"""An owner brings a tool, a text or a module with one: it is checked, screened and stored, and is no tool by that.

A module is compiled in a process of its own before anything is stored. Locks nothing; the rows are the owner's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Max

from memory_app.poison import find_poison
from permits_app.actions.query import OWN_QUERIES
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted
from tools_app.models import ToolDefinition, WasmModule
from tools_app.sandbox.built_in_replacement import find_replaced
from tools_app.sandbox.compiling import compile_module, hash_module
from tools_app.sandbox.definition import Definition, DefinitionRefused, read_definition
from tools_app.sandbox.look_alike_names import find_imitated
from tools_app.sandbox.owner_toml_definition import read_written
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

MOST_VERSIONS = 200


def bring_definition(
    *,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    definition_text: str,
    module: bytes | None,
    now: datetime,
) -> ToolDefinition:
    """The stored definition; the same one where nothing of it changed. Without a module it is a text alone.

    Raises ModuleRefused, DefinitionRefused, BuiltInNotReplaceable.
    """
    if module is None:
        written = read_written(definition_text)
        check_texts(written)
        return _store(owner, written, None, [], now)
    definition = read_definition(definition_text, module_sha256=hash_module(module))
    check_texts(definition)
    compiled = compile_module(module)
    undeclared = sorted(map(str, compiled.imports - definition.capabilities))
    if undeclared:
        raise DefinitionRefused(f"the module uses what its capabilities do not name: {', '.join(undeclared)}")
    return _store(owner, definition, module, sorted(map(str, compiled.imports)), now)


def check_texts(definition: Definition) -> None:
    """Refuse a name that could be taken for a built-in's, and texts that speak to a model.

    The very name of a built-in means to stand in its place, which few let. Raises DefinitionRefused,
    BuiltInNotReplaceable.
    """
    taken = {name for tool in REGISTRY for name in (tool.name, tool.key, *tool.aliases)}
    taken |= {query.key for query in OWN_QUERIES} | {str(name) for name in PiTool}
    imitated = find_imitated(definition.name, taken=taken, prefixes={tool.prefix for tool in REGISTRY})
    if find_replaced(definition) is None and imitated is not None:
        raise DefinitionRefused(
            f"{definition.name} could be taken for {imitated}, which is built in", imitates=imitated
        )
    _check_reads(definition)
    for where, text in definition.texts():
        signs = find_poison(text)
        if signs:
            raise DefinitionRefused(f"{where} {'; '.join(signs)}", where=where)


@dataclass(frozen=True, slots=True)
class _ComposedRead:
    """One read that a composition makes."""

    id: str
    query: str


def _check_reads(definition: Definition) -> None:
    """What a composition reads is built in: an owner's tool calls no other, and nothing that acts."""
    built_in = {tool.key for tool in REGISTRY if isinstance(tool, ReadTool) and tool.pi_tool is PiTool.QUERY_STATE}
    built_in |= {query.key for query in OWN_QUERIES}
    for read in (read_stored(_ComposedRead, each) for each in definition.body.get("compose", ())):
        if read.query not in built_in:
            raise DefinitionRefused(f"compose.{read.id}: {read.query!r} is no built-in read", where=read.id)


@retry_aborted
def _store(
    owner: Any,  # Any: whoever is signed in, of the project's user model
    definition: Definition,
    module: bytes | None,
    imports: list[str],
    now: datetime,
) -> ToolDefinition:
    with transaction.atomic():
        # Two uploads at once number their versions one after the other.
        get_user_model()._default_manager.select_for_update(no_key=True).get(pk=owner.pk)
        known = ToolDefinition.objects.filter(owner=owner, definition_hash=definition.hash).first()
        if known is not None:
            return known
        rows = ToolDefinition.objects.filter(owner=owner, name=definition.name)
        if rows.count() >= MOST_VERSIONS:
            raise DefinitionRefused(f"{definition.name} has {MOST_VERSIONS} versions; give a new tool a new name")
        stored = None
        if module is not None:
            stored, _ = WasmModule.objects.get_or_create(
                owner=owner,
                sha256=hash_module(module),
                defaults={"content": module, "size": len(module), "imports": imports, "uploaded_at": now},
            )
        return ToolDefinition.objects.create(
            owner=owner,
            name=definition.name,
            version=(rows.aggregate(last=Max("version"))["last"] or 0) + 1,
            definition_hash=definition.hash,
            body=definition.body,
            module=stored,
            created_at=now,
        )
