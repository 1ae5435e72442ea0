"""Runs a command on a remote machine, and kills what it started there, whether it ended, overran or lost the line.

The command gets a session of its own and a word in its environment. A sweep kills everything of that session and with
that word; the remote `timeout` kills it too when this server is not there to. What hides from both is held by nothing
but the account: the admin says so.
"""

from __future__ import annotations

import asyncio
import secrets
import shlex
from typing import Any, Final

import asyncssh

from golem_project.coding.ssh_session import SshSession
from tools_app.subsystems.coding.bounded_command_output import KeptOutput
from tools_app.subsystems.coding.errors import RemoteUnavailable
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.operations import Command, EndedBy, RanCommand

_PART: Final = 1 << 16
_SWEEP_SECONDS: Final = 3
_LOOK_SECONDS: Final = 0.05
_KILLED: Final = -1
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
# Twice: what was forked during the first round is found in the second.
_SWEEP: Final = (
    "for round in 1 2; do for each in /proc/[0-9]*; do"
    " if grep -qzx GOLEM_RUN={word} $each/environ 2>/dev/null;"
    " then session=$(ps -o sid= -p ${{each#/proc/}} 2>/dev/null);"
    ' kill -KILL ${{each#/proc/}} 2>/dev/null; [ -n "$session" ] && sids="$sids $session"; fi; done;'
    " for session in $sids; do pkill -KILL -s $session; done; done; true"
)


class SshCommands:
    """ExecOps in `folder` of the machine that `session` reaches."""

    def __init__(self, session: SshSession, folder: str) -> None:
        self._session = session
        self._folder = folder

    def check(self) -> None:
        """See ExecOps: the connection stands, and what is run there is for the account to limit."""

    def run(self, command: Command, *, timeout_ms: int, is_full: bool = False) -> RanCommand:
        """See ExecOps. How much the account may hold is bounded there, or not."""
        word = secrets.token_hex(16)
        seconds = timeout_ms / 1000
        line = _spell(command, folder=self._folder, word=word, seconds=seconds)
        return self._session.call(
            lambda: _run(self._session.connection, line, word, seconds), seconds=seconds + 2 * _SWEEP_SECONDS
        )


def _spell(command: Command, *, folder: str, word: str, seconds: float) -> str:
    # SSH carries one line, so that each argument is quoted for the shell that takes the line apart again.
    argv = ("/bin/bash", "--noprofile", "--norc", "-c", command) if isinstance(command, str) else command
    inner = f"cd -- {shlex.quote(folder)} && exec -- {shlex.join(argv)}"
    scrubbed = f'env -i PATH={_PATH} HOME="$HOME" LANG=C.UTF-8 TERM=dumb GOLEM_RUN={word}'
    # A little later than this server, which tells why; here it is for a line that is lost.
    watched = f"timeout --signal=KILL {seconds + 1:.1f} /bin/bash --noprofile --norc -c {shlex.quote(inner)}"
    return f"exec {scrubbed} setsid --wait {watched}"


async def _run(connection: asyncssh.SSHClientConnection, line: str, word: str, seconds: float) -> RanCommand:
    stdout, stderr = KeptOutput(LIMITS.output_bytes), KeptOutput(LIMITS.output_bytes)
    process: asyncssh.SSHClientProcess[Any] = await connection.create_process(  # Any: asyncssh's stubs leave it open
        line, encoding=None, stdin=asyncssh.DEVNULL
    )
    listening = asyncio.gather(_listen(process.stdout, stdout), _listen(process.stderr, stderr))
    ended_by = EndedBy.TIMEOUT
    try:
        ended_by = await _watch(process, (stdout, stderr), seconds)
    finally:
        # What is left of it holds the streams open; without it they end.
        await _sweep(connection, word)
        try:
            await asyncio.wait_for(listening, _SWEEP_SECONDS)
        except (TimeoutError, asyncssh.Error, OSError):
            listening.cancel()
        process.close()
    if ended_by is EndedBy.ITSELF and process.exit_status is None and process.exit_signal is None:
        raise RemoteUnavailable("the connection ended before the command told how it ended; look its effect up")
    code = process.exit_status if ended_by is EndedBy.ITSELF and process.exit_status is not None else _KILLED
    return RanCommand(stdout.end, stderr.end, stdout.left_out, stderr.left_out, code, ended_by)


async def _watch(
    process: asyncssh.SSHClientProcess[Any],  # Any: asyncssh's stubs leave it open
    outputs: tuple[KeptOutput, KeptOutput],
    seconds: float,
) -> EndedBy:
    """Until it tells how it ended, is over its time, or floods."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    closed = asyncio.ensure_future(process.wait_closed())
    try:
        while process.exit_status is None and process.exit_signal is None and not closed.done():
            if sum(kept.total for kept in outputs) > LIMITS.flood_bytes:
                return EndedBy.FLOOD
            if loop.time() >= ends:
                return EndedBy.TIMEOUT
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        closed.cancel()
    return EndedBy.ITSELF


async def _listen(stream: asyncssh.SSHReader[Any], kept: KeptOutput) -> None:  # Any: asyncssh's stubs leave it open
    while part := await stream.read(_PART):
        kept.add(part)


async def _sweep(connection: asyncssh.SSHClientConnection, word: str) -> None:
    try:
        await asyncio.wait_for(connection.run(_SWEEP.format(word=word)), _SWEEP_SECONDS)
    except (TimeoutError, asyncssh.Error, OSError):
        # The line is gone: the remote `timeout` ends it.
        return
