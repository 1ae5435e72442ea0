"""The family of the coding tools, and how each of them reaches its golem's workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from tools_app.subsystems.coding.editing import hash_bytes
from tools_app.subsystems.coding.errors import FileMissing, FolderFull, WorkspaceChanged
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.operations import FileBytes, Workspace, Workspaces
from tools_app.subsystems.coding.paths import Place
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

coding = ToolFamily(prefix="coding", category=Category.CODING)

WORKSPACE: Final = "workspace"
REPLACES: Final = "replaces"
BECOMES: Final = "becomes"
IS_FULL: Final = "is_full"
"""Bound by a command that was previewed in a full folder, and so waited for an owner."""


@contextmanager
def open_workspace_to_write(ctx: ReadContext) -> Iterator[Workspace]:
    """Where this golem works now, with room for more. Raises FolderFull, and as `open_workspace`."""
    with open_workspace(ctx) as workspace:
        check_room(workspace, ctx)
        yield workspace


def check_room(workspace: Workspace, ctx: ReadContext) -> None:
    """Raises FolderFull when the folder holds more than it may."""
    excess = workspace.files.find_excess(deadline=ctx.deadline)
    if excess:
        raise FolderFull(
            f"the folder holds {excess}: nothing is written until a command has removed something, and every command"
            " waits for the owner until then",
            holds=excess,
        )


@contextmanager
def open_workspace(ctx: ReadContext) -> Iterator[Workspace]:
    """Where this golem works now. Raises ServiceMissing and the workspace's errors."""
    workspaces = ctx.service(Workspaces)  # type: ignore[type-abstract]
    with workspaces.open(golem_id=ctx.golem.id, deadline=ctx.deadline) as workspace:
        yield workspace


@contextmanager
def write_in_workspace(ctx: ReadContext, capability: Capability) -> Iterator[Workspace]:
    """The workspace that the permit's effect was previewed in, with nobody else writing there.

    Raises WorkspaceChanged, WorkspaceBusy, and FolderFull unless the permit was given for a full folder.
    """
    workspaces = ctx.service(Workspaces)  # type: ignore[type-abstract]
    with (
        workspaces.hold(golem_id=ctx.golem.id, deadline=ctx.deadline),
        workspaces.open(golem_id=ctx.golem.id, deadline=ctx.deadline) as workspace,
    ):
        if capability.bound.get(WORKSPACE) != workspace.fingerprint:
            raise WorkspaceChanged("the owner changed where or how this golem works; preview it again")
        if not capability.bound.get(IS_FULL, False):
            check_room(workspace, ctx)
        yield workspace


def read_before(workspace: Workspace, place: Place, ctx: ReadContext) -> FileBytes | None:
    """What is at a place before it is written, as far as a write looks; None for nothing."""
    try:
        return workspace.files.read(place, most_bytes=LIMITS.edited_bytes + 1, deadline=ctx.deadline)
    except FileMissing:
        return None


def bind(workspace: Workspace, before: FileBytes | None, after: bytes) -> Mapping[str, object]:
    """What a write rests on: the workspace's settings, the file before it, and the file it makes."""
    return {
        WORKSPACE: workspace.fingerprint,
        REPLACES: hash_bytes(before.data) if before is not None else None,
        BECOMES: hash_bytes(after),
    }
