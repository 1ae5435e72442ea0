"""Owners' tools as files: `<name>.toml`, and `<name>.wasm` or `<name>.wat` beside it where the tool is a module.

Reading brings each, and approves none; writing gives the newest version of each. What was read is screened as an
upload is.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from permits_app.actions.bring_definition import bring_definition
from tools_app.core.errors import InvalidParams
from tools_app.models import ToolDefinition
from tools_app.sandbox.definition import MOST_BYTES
from tools_app.sandbox.module_size import check_size
from tools_app.sandbox.stored_definition import write_toml

_MODULES = (".wasm", ".wat")


def read_tool_files(path: Path) -> tuple[str, bytes | None]:
    """The definition in a file and the module beside it, if there is one.

    Raises InvalidParams, ModuleRefused for one that is too large, OSError.
    """
    modules = [found for ending in _MODULES if (found := path.with_suffix(ending)).exists()]
    if path.stat().st_size > MOST_BYTES:
        raise InvalidParams(f"{path.name}: a definition has at most {MOST_BYTES} bytes")
    for found in modules:
        check_size(found.stat().st_size)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidParams(f"{path.name} is no UTF-8 text") from None
    return text, modules[0].read_bytes() if modules else None


def import_definitions(
    *,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    paths: Iterable[Path],
    now: datetime,
) -> list[ToolDefinition]:
    """Bring what the files say, in their order. Raises what bringing one raises; those before it are kept."""
    brought = []
    for path in paths:
        text, module = read_tool_files(path)
        brought.append(bring_definition(owner=owner, definition_text=text, module=module, now=now))
    return brought


def export_definitions(
    *,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    folder: Path,
) -> list[Path]:
    """Write the newest version of each tool of `owner` into `folder`, which is made when it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    newest = ToolDefinition.objects.filter(owner=owner).order_by("name", "-version").distinct("name")
    written = []
    for row in newest.select_related("module"):
        path = folder / f"{row.name}.toml"
        path.write_text(write_toml(row.body), encoding="utf-8")
        written.append(path)
        if row.module is not None:
            path.with_suffix(".wasm").write_bytes(bytes(row.module.content))
    return written
