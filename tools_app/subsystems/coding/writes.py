"""`coding_write` and `coding_edit`: one file, shown as a diff first, and refused when it changed since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools_app.core import clock
from tools_app.subsystems.coding.content import ToolOutput, text_block
from tools_app.subsystems.coding.editing import describe_diff, hash_bytes, replace_once
from tools_app.subsystems.coding.errors import FileChanged, FileMissing, FileTooLarge, NotText
from tools_app.subsystems.coding.family import (
    BECOMES,
    REPLACES,
    bind,
    coding,
    open_workspace_to_write,
    read_before,
    write_in_workspace,
)
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.operations import FileBytes, NeedsOwner, Workspace
from tools_app.subsystems.coding.params import FilePath, FileText, NewText, OldText, Shape
from tools_app.subsystems.coding.paths import Place, parse_path, spell
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.plan import LocalEffect


def preview_write(ctx: WriteContext, path: str, content: str, result_shape: str) -> LocalEffect:
    """The file before and after, as a diff. Raises PathRefused, FileTooLarge, FolderFull."""
    data = _encode(content)
    with open_workspace_to_write(ctx) as workspace:
        place = parse_path(path, root=workspace.root)
        before = read_before(workspace, place, ctx)
        verb = "Replace" if before is not None else "Make"
        return _describe(workspace, place, before, data, f"{verb} {spell(place)}, {len(data)} bytes")


@coding.local_write(
    schema_version=2,
    budget=TickBudget.SLOW,
    preview=preview_write,
    aliases=("write",),
    snippet=(
        "write: make or replace a whole file in your workspace, its folders included; the preview shows the diff and"
        " the permit holds for that file as it was."
    ),
    guidelines=("Edit what is there; write whole files only when they are new or all of them changes.",),
)
def coding_write(
    ctx: WriteContext, capability: Capability, path: FilePath, content: FileText, result_shape: Shape = "blocks"
) -> Mapping[str, object]:
    """Write a whole file, and the folders it lies in.

    Use for a new file. The preview says what is replaced, and a file that changed since is not.
    Does not follow links, does not append, and does not leave the folder.
    """
    begun = clock.monotonic_ms()
    ctx.step("Writing the file")
    data = _encode(content)
    with write_in_workspace(ctx, capability) as workspace:
        place = parse_path(path, root=workspace.root)
        workspace.files.write(place, data, replaces=capability.bound[REPLACES], deadline=ctx.deadline)
    return _tell(f"Successfully wrote {len(data)} bytes to {spell(place)}", begun, tool="write", shape=result_shape)


def preview_edit(ctx: WriteContext, path: str, old_string: str, new_string: str, result_shape: str) -> LocalEffect:
    """The one replacement as a diff.

    Raises EditRefused, FileMissing, NotText, FileTooLarge, PathRefused, FolderFull.
    """
    with open_workspace_to_write(ctx) as workspace:
        place = parse_path(path, root=workspace.root)
        before = read_before(workspace, place, ctx)
        if before is None:
            raise FileMissing(f"there is no {spell(place)}", path=spell(place))
        data = _edit(place, before, old_string, new_string)
        return _describe(workspace, place, before, data, f"Edit {spell(place)}")


@coding.local_write(
    schema_version=2,
    budget=TickBudget.SLOW,
    preview=preview_edit,
    aliases=("edit",),
    snippet=(
        "edit: replace one exact piece of text in a file of your workspace; it must be there once, and the permit holds"
        " only for the file as the preview saw it."
    ),
    guidelines=("Give edit enough lines around the change that the text is there once.",),
)
def coding_edit(
    ctx: WriteContext,
    capability: Capability,
    path: FilePath,
    old_string: OldText,
    new_string: NewText = "",
    result_shape: Shape = "blocks",
) -> Mapping[str, object]:
    """Replace one exact piece of text in a file.

    Use to change code. The text must be in the file exactly once; line ends stay as they are, whichever they are.
    Does not guess where text moved to, does not replace all of several places, and refuses a file that changed since
    the preview.
    """
    begun = clock.monotonic_ms()
    ctx.step("Editing the file")
    with write_in_workspace(ctx, capability) as workspace:
        place = parse_path(path, root=workspace.root)
        before = read_before(workspace, place, ctx)
        if before is None or hash_bytes(before.data) != capability.bound[REPLACES]:
            raise FileChanged(f"{spell(place)} is not what it was at the preview", path=spell(place))
        data = _edit(place, before, old_string, new_string)
        if hash_bytes(data) != capability.bound[BECOMES]:
            raise FileChanged(f"{spell(place)} would become another file than the preview showed", path=spell(place))
        workspace.files.write(place, data, replaces=capability.bound[REPLACES], deadline=ctx.deadline)
    return _tell(f"Successfully edited {spell(place)}", begun, tool="edit", shape=result_shape)


def _edit(place: Place, before: FileBytes, old: str, new: str) -> bytes:
    if not before.is_whole or len(before.data) > LIMITS.edited_bytes:
        raise FileTooLarge(f"{spell(place)} has more than {LIMITS.edited_bytes} bytes", size=before.size)
    text = _decode(before.data)
    if text is None:
        raise NotText(f"{spell(place)} is not UTF-8 text", path=spell(place))
    data = replace_once(text, old=old, new=new).encode("utf-8")
    if len(data) > LIMITS.edited_bytes:
        raise FileTooLarge(f"{spell(place)} would have more than {LIMITS.edited_bytes} bytes", size=len(data))
    return data


def _describe(workspace: Workspace, place: Place, before: FileBytes | None, data: bytes, summary: str) -> LocalEffect:
    old = "" if before is None else _decode(before.data)
    if old is None or (before is not None and not before.is_whole):
        size = before.size if before is not None else 0
        diff = f"[what is there, {size} bytes, is no text or too long to compare]"
    else:
        diff = describe_diff(old, data.decode("utf-8"), name=spell(place))
    stands = "nothing is there" if before is None else f"{before.size} bytes, sha256 {hash_bytes(before.data)[:16]}…"
    line = {"words": spell(place), "before": stands, "after": diff, "note": f"on {workspace.name}"}
    return LocalEffect(
        f"{summary} on {workspace.name}",
        {"path": spell(place), "folder": workspace.root, "machine": workspace.name, "diff": diff},
        differences=(line,),
        bound=bind(workspace, before, data),
        needs_owners=workspace.needs_owner is NeedsOwner.EVERYTHING,
    )


def _encode(content: str) -> bytes:
    data = content.encode("utf-8")
    if len(data) > LIMITS.write_bytes:
        raise FileTooLarge(f"at most {LIMITS.write_bytes} bytes are written at once", size=len(data))
    return data


def _decode(data: bytes) -> str | None:
    if b"\x00" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _tell(text: str, begun: float, *, tool: str, shape: str) -> Mapping[str, Any]:  # Any: JSON of an answer
    return ToolOutput((text_block(text),), int(clock.monotonic_ms() - begun)).as_untrusted(tool=tool, shape=shape)
