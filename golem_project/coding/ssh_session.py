"""One SSH connection for one call of a tool: to the machine whose host key its owner entered, and to no other.

The connection lives in an event loop of its own thread, since tools are plain functions; every step ends by a deadline.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import asyncssh

from tools_app.core.clock import Deadline
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed, resolve
from tools_app.subsystems.coding.errors import HostKeyRefused, LoginRefused, RemoteUnavailable

T = TypeVar("T")

_CONNECT_SECONDS: Final = 5
_LEAST_SECONDS: Final = 0.05
_KEY_KINDS: Final = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)

# At INFO it writes out every command, which may hold what nobody else should read.
asyncssh.set_log_level(logging.WARNING)
asyncssh.set_sftp_log_level(logging.WARNING)


@dataclass(frozen=True, slots=True)
class SshTarget:
    """A machine and an account on it. `host_key` is its public key as in a known_hosts file, without the host."""

    host: str
    port: int
    username: str
    host_key: str

    @property
    def name(self) -> str:
        return f"{self.username}@{self.host}:{self.port}"


class SshSession:
    """An open connection; `call` carries out one step on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: asyncssh.SSHClientConnection, name: str) -> None:
        self._loop = loop
        self.connection = connection
        self.name = name

    def call(self, step: Callable[[], Coroutine[Any, Any, T]], *, seconds: float) -> T:  # Any: nothing is sent into it
        """What `step` answers. Raises RemoteUnavailable when the connection ends or the time is over first."""
        try:
            return _wait(self._loop, step(), seconds)
        except (OSError, asyncssh.ConnectionLost, asyncssh.DisconnectError, asyncssh.ChannelOpenError) as error:
            raise RemoteUnavailable(f"the connection to {self.name} ended: {type(error).__name__}") from None
        except (FutureTimeout, TimeoutError, asyncio.CancelledError):
            raise RemoteUnavailable(f"{self.name} did not answer in time") from None


@contextmanager
def open_session(
    target: SshTarget, *, key: asyncssh.SSHKey, allows_private: bool, deadline: Deadline
) -> Iterator[SshSession]:
    """A connection for as long as the block runs. Raises RemoteUnavailable, HostKeyRefused, LoginRefused."""
    address = _check_address(target, allows_private=allows_private)
    trusted = asyncssh.import_public_key(target.host_key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="golem-ssh", daemon=True)
    thread.start()
    try:
        connection = _connect(loop, target, address, key, trusted, deadline)
        try:
            yield SshSession(loop, connection, target.name)
        finally:
            _wait(loop, _close(connection), _CONNECT_SECONDS)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CONNECT_SECONDS)
        if not loop.is_running():
            loop.close()


def seconds_left(deadline: Deadline) -> float:
    """What is left of a deadline, never nothing, so that what is over fails as a time-out."""
    return max(deadline.remaining_ms() / 1000, _LEAST_SECONDS)


def _check_address(target: SshTarget, *, allows_private: bool) -> str:
    """The one address that is connected to; a name that resolves otherwise a moment later changes nothing."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    try:
        # A machine's SSH is on whatever port its owner wrote down.
        return resolve(f"https://{host}:{target.port}", allows_private=allows_private, ports=None).address
    except (AddressRefused, ExchangeFailed) as refusal:
        raise RemoteUnavailable(f"{target.name} is not connected to: {refusal}") from None


def _connect(
    loop: asyncio.AbstractEventLoop,
    target: SshTarget,
    address: str,
    key: asyncssh.SSHKey,
    trusted: asyncssh.SSHKey,
    deadline: Deadline,
) -> asyncssh.SSHClientConnection:
    async def connect() -> asyncssh.SSHClientConnection:
        # No file of the server's own user is read: no config, no agent, no other key, no other known host.
        return await asyncssh.connect(
            address,
            target.port,
            username=target.username,
            client_keys=[key],
            known_hosts=([trusted], [], []),
            # Every kind is asked for, so that a machine with a key of another kind is told from one that is down.
            server_host_key_algs=_KEY_KINDS,
            preferred_auth="publickey",
            agent_path=None,
            config=None,
            connect_timeout=_CONNECT_SECONDS,
            login_timeout=_CONNECT_SECONDS,
            keepalive_interval=_CONNECT_SECONDS,
        )

    try:
        return _wait(loop, connect(), min(seconds_left(deadline), 2.0 * _CONNECT_SECONDS))
    except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed):
        raise HostKeyRefused(f"{target.name} shows another host key than its owner entered") from None
    except asyncssh.PermissionDenied:
        raise LoginRefused(f"{target.name} does not take this golem's key; is it in authorized_keys?") from None
    except (OSError, asyncssh.Error, FutureTimeout) as error:
        raise RemoteUnavailable(f"{target.name} was not reached: {type(error).__name__}") from None


async def _close(connection: asyncssh.SSHClientConnection) -> None:
    connection.abort()
    await connection.wait_closed()


def _wait(loop: asyncio.AbstractEventLoop, work: Awaitable[T], seconds: float) -> T:
    async def within() -> T:
        return await asyncio.wait_for(work, seconds)

    return asyncio.run_coroutine_threadsafe(within(), loop).result(seconds + _CONNECT_SECONDS)
