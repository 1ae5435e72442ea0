"""Runs a command on this machine behind its fences, to its end or to its time, and leaves nothing of it running."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.bounded_command_output import KeptOutput
from tools_app.subsystems.coding.command_memory import MemoryBound, bound_memory
from tools_app.subsystems.coding.detect_sandbox_fences import fence_command, find_fences_for
from tools_app.subsystems.coding.errors import CommandsNotFenced
from tools_app.subsystems.coding.first_process import find_first_process, wait_until_gone
from tools_app.subsystems.coding.folder_size import FolderUse
from tools_app.subsystems.coding.folder_watch import FolderWatch, watch_folder
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.memory_group import GroupRefused
from tools_app.subsystems.coding.operations import Command, EndedBy, RanCommand
from tools_app.subsystems.coding.system_calls import open_filter

_PART: Final = 1 << 16
_KILLED: Final = -1


class FencedCommands:
    """ExecOps in `folder`, as the user `uid` where this server may change users; none that would see `kept`."""

    def __init__(
        self,
        folder: Path,
        *,
        uid: int | None,
        allows_network: bool,
        kept: Sequence[Path] = (),
        allowed: bool = True,
        memory_bytes: int = LIMITS.memory_bytes,
    ) -> None:
        self._folder = folder
        self._uid = uid
        self._allows_network = allows_network
        self._kept = kept
        self._allowed = allowed
        self._memory_bytes = memory_bytes

    def check(self) -> None:
        """See ExecOps."""
        fences = find_fences_for(self._kept, allowed=self._allowed)
        if not fences.holds:
            raise CommandsNotFenced(f"no command is run here: {fences.why_not}", why=fences.why_not)

    def run(self, command: Command, *, timeout_ms: int, is_full: bool = False) -> RanCommand:
        """See ExecOps."""
        self.check()
        try:
            with bound_memory(self._memory_bytes) as bound:
                return self._run(command, timeout_ms, is_full, bound)
        except GroupRefused as refusal:
            raise CommandsNotFenced(f"no command is run here: {refusal}", why=str(refusal)) from None

    def _run(self, command: Command, timeout_ms: int, is_full: bool, bound: MemoryBound) -> RanCommand:
        most = FolderUse(LIMITS.folder_bytes, LIMITS.folder_entries)
        watch = watch_folder(self._folder, most=most, is_full=is_full)
        filters = open_filter(shows_all_memory=bound.joining is None)
        told, tells = os.pipe()
        fenced = fence_command(
            command,
            folder=self._folder,
            uid=self._uid,
            allows_network=self._allows_network,
            seconds=timeout_ms // 1000 + 1,
            filter_fd=filters,
            joining=bound.joining,
            info_fd=tells,
        )
        try:
            child = subprocess.Popen(  # noqa: S603  (the command is what its owner allowed, behind its fences)
                fenced,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                cwd="/",
                start_new_session=True,
                pass_fds=(tells, filters),
            )
        except BaseException:
            os.close(told)
            raise
        finally:
            os.close(tells)
            os.close(filters)
        outputs = KeptOutput(LIMITS.output_bytes), KeptOutput(LIMITS.output_bytes)
        ended_by, first = EndedBy.TIMEOUT, None
        try:
            first = find_first_process(told)
            ended_by = _listen(child, outputs, Deadline.after_ms(timeout_ms), watch, bound)
        finally:
            # bwrap's child dies with it, and with that, the first process of its world, everything in there.
            if ended_by is not EndedBy.ITSELF:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
            wait_until_gone(first)
            for pipe in (child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()
        if ended_by is EndedBy.ITSELF and bound.was_over():
            ended_by = EndedBy.MEMORY
        stdout, stderr = outputs
        return RanCommand(
            stdout.end,
            stderr.end,
            stdout.left_out,
            stderr.left_out,
            code if ended_by is EndedBy.ITSELF else _KILLED,
            ended_by,
            self._memory_bytes,
        )


def _listen(
    child: subprocess.Popen[bytes],
    outputs: tuple[KeptOutput, KeptOutput],
    deadline: Deadline,
    watch: FolderWatch | None,
    bound: MemoryBound,
) -> EndedBy:
    """Take in what it says until both streams end and it does, its folder is full, or it takes too much memory."""
    assert child.stdout is not None and child.stderr is not None
    with selectors.DefaultSelector() as selector:
        for pipe, kept in zip((child.stdout, child.stderr), outputs, strict=True):
            selector.register(pipe, selectors.EVENT_READ, kept)
        while not deadline.is_over:
            pause_ms = min(deadline.remaining_ms(), bound.pause_ms)
            if watch is not None:
                pause_ms = min(pause_ms, watch.pause_ms)
            if not selector.get_map():
                # It may have closed both and write to files for as long as it likes.
                if _has_ended(child, pause_ms / 1000):
                    return EndedBy.ITSELF
            else:
                for key, _ in selector.select(pause_ms / 1000):
                    if not _take(key.fileobj, key.data):
                        selector.unregister(key.fileobj)
            if sum(kept.total for kept in outputs) > LIMITS.flood_bytes:
                return EndedBy.FLOOD
            if bound.is_over(first_pid=child.pid):
                return EndedBy.MEMORY
            if watch is not None and watch.is_full(first_pid=child.pid, deadline=deadline) and not deadline.is_over:
                return EndedBy.FULL
    return EndedBy.TIMEOUT


def _has_ended(child: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _take(pipe: int | IO[bytes] | object, kept: KeptOutput) -> bool:
    """Whether more may come."""
    part = os.read(pipe.fileno(), _PART)  # type: ignore[union-attr]
    kept.add(part)
    return bool(part)
