"""Defines what a coding tool needs of its place: files and commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.paths import Place


class EntryKind(StrEnum):
    """What is at a place; a link is never followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; `size` in bytes."""

    name: str
    kind: EntryKind
    size: int


@dataclass(frozen=True, slots=True)
class FileBytes:
    """The first bytes of a file, and how many it has in all."""

    data: bytes
    size: int

    @property
    def is_whole(self) -> bool:
        return len(self.data) >= self.size


class EndedBy(StrEnum):
    """What ended a command."""

    ITSELF = "itself"
    TIMEOUT = "timeout"
    FLOOD = "flood"
    FULL = "full"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class RanCommand:
    """What a command said and how it ended. `left_out` are bytes of output before what is kept; exit -1: killed.

    `most_memory_bytes` is what all its processes together might take, 0 where that is not bounded here.
    """

    stdout: bytes
    stderr: bytes
    stdout_left_out: int
    stderr_left_out: int
    exit_code: int
    ended_by: EndedBy
    most_memory_bytes: int = 0


class FileOps(Protocol):
    """Files below one folder. Every method raises PathRefused for what leads out of it, and its place's own errors."""

    def read(self, place: Place, *, most_bytes: int, deadline: Deadline) -> FileBytes:
        """The beginning of a plain file. Raises FileMissing."""

    def write(self, place: Place, data: bytes, *, replaces: str | None, deadline: Deadline) -> None:
        """Put `data` in the file's place, whole or not at all, and make its folders.

        `replaces` is the SHA-256 in hex of what is there, None for nothing. Raises FileChanged.
        """

    def find(self, place: Place, *, deadline: Deadline) -> Entry | None:
        """What is at a place, None for nothing."""

    def list_folder(self, place: Place, *, deadline: Deadline) -> Iterator[Entry]:
        """What is in a folder, as it comes. Raises FileMissing."""

    def find_excess(self, *, deadline: Deadline) -> str:
        """What the folder holds beyond its bound, in words; empty while there is room."""


Command = str | tuple[str, ...]
"""A line for bash, or a program with its arguments, which no shell reads."""


class ExecOps(Protocol):
    """Runs one command at a time in the folder."""

    def check(self) -> None:
        """That commands are run here at all. Raises CommandsNotFenced."""

    def run(self, command: Command, *, timeout_ms: int, is_full: bool = False) -> RanCommand:
        """Run it to its end, or kill it with all it started. Raises CommandsNotFenced, RemoteUnavailable.

        Where its folder is bounded it is killed when it goes beyond; `is_full` lets it into one that is beyond already.
        """


class NeedsOwner(StrEnum):
    """What of a golem's coding waits for its owner."""

    NOTHING = "NOTHING"
    COMMANDS = "COMMANDS"
    EVERYTHING = "EVERYTHING"


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where one golem works now. `root` is the folder as commands see it; `fingerprint` names every setting of it."""

    name: str
    root: str
    files: FileOps
    commands: ExecOps
    needs_owner: NeedsOwner
    fingerprint: str


class Workspaces(Protocol):
    """Opens a golem's workspace; wiring hands it down."""

    def open(self, *, golem_id: UUID, deadline: Deadline) -> AbstractContextManager[Workspace]:
        """The workspace, until the block ends. Raises its errors."""

    def hold(self, *, golem_id: UUID, deadline: Deadline) -> AbstractContextManager[None]:
        """Nobody else writes in this golem's workspace until the block ends. Raises WorkspaceBusy."""

    def public_key(self, golem_id: UUID) -> str:
        """The line for authorized_keys with which a golem is let in on its owner's machine."""
