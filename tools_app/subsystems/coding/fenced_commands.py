"""Runs a command on this machine behind its fences, to its end or to its time, and leaves nothing of it running."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.errors import CommandsNotFenced
from tools_app.subsystems.coding.fences import fence_command, find_fences
from tools_app.subsystems.coding.first_process import find_first_process, wait_until_gone
from tools_app.subsystems.coding.folder_size import Held
from tools_app.subsystems.coding.folder_watch import FolderWatch, watch_folder
from tools_app.subsystems.coding.kept_output import KeptOutput
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.operations import Command, EndedBy, RanCommand

_PART: Final = 1 << 16
_KILLED: Final = -1


class FencedCommands:
    """ExecOps in `folder`, as the user `uid` where this server may change users."""

    def __init__(self, folder: Path, *, uid: int | None, allows_network: bool) -> None:
        self._folder = folder
        self._uid = uid
        self._allows_network = allows_network

    def check(self) -> None:
        """See ExecOps."""
        fences = find_fences()
        if not fences.holds:
            raise CommandsNotFenced(f"no command is run here: {fences.why_not}", why=fences.why_not)

    def run(self, command: Command, *, timeout_ms: int, is_full: bool = False) -> RanCommand:
        """See ExecOps."""
        self.check()
        most = Held(LIMITS.folder_bytes, LIMITS.folder_entries)
        watch = watch_folder(self._folder, most=most, is_full=is_full)
        told, tells = os.pipe()
        fenced = fence_command(
            command,
            folder=self._folder,
            uid=self._uid,
            allows_network=self._allows_network,
            seconds=timeout_ms // 1000 + 1,
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
                pass_fds=(tells,),
            )
        except BaseException:
            os.close(told)
            raise
        finally:
            os.close(tells)
        outputs = KeptOutput(LIMITS.output_bytes), KeptOutput(LIMITS.output_bytes)
        ended_by, first = EndedBy.TIMEOUT, None
        try:
            first = find_first_process(told)
            ended_by = _listen(child, outputs, Deadline.after_ms(timeout_ms), watch)
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
        stdout, stderr = outputs
        return RanCommand(
            stdout.end,
            stderr.end,
            stdout.left_out,
            stderr.left_out,
            code if ended_by is EndedBy.ITSELF else _KILLED,
            ended_by,
        )


def _listen(
    child: subprocess.Popen[bytes],
    outputs: tuple[KeptOutput, KeptOutput],
    deadline: Deadline,
    watch: FolderWatch | None,
) -> EndedBy:
    """Take in what it says until both streams end and it does, or its folder is full."""
    assert child.stdout is not None and child.stderr is not None
    with selectors.DefaultSelector() as selector:
        for pipe, kept in zip((child.stdout, child.stderr), outputs, strict=True):
            selector.register(pipe, selectors.EVENT_READ, kept)
        while not deadline.is_over:
            pause_ms = min(deadline.remaining_ms(), watch.pause_ms) if watch is not None else deadline.remaining_ms()
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
