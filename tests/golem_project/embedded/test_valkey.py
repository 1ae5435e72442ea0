"""Valkey on a folder of ours: restart, crashes, secrecy of its password."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import redis

from golem_project.embedded.paths import Paths
from golem_project.embedded.valkey import EmbeddedValkey
from tests.golem_project.embedded.conftest import wait_until_gone


def set_key(server: EmbeddedValkey) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", "7")


def get_key(server: EmbeddedValkey) -> object:
    with redis.Redis.from_url(server.url) as client:
        return client.get("kept")


@pytest.mark.parametrize(("throwaway", "kept"), [(False, b"7"), (True, None)])
def test_a_restart_keeps_the_port_and_unless_throw_away_the_data(
    paths: Paths, throwaway: bool, kept: bytes | None
) -> None:
    server = EmbeddedValkey(paths, throwaway=throwaway)
    assert server.start()
    url = server.url
    set_key(server)
    server.stop()
    assert not server.is_ready()
    again = EmbeddedValkey(paths, throwaway=throwaway)
    again.start()
    try:
        assert again.url == url
        assert get_key(again) == kept
    finally:
        again.stop()


def test_after_kill_9_of_the_server_the_next_start_has_what_was_written(paths: Paths) -> None:
    server = EmbeddedValkey(paths, throwaway=False)
    server.start()
    assert server.child is not None
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", "7")
        # The file is synced every second; this waits for that sync instead of for a second.
        client.execute_command("WAITAOF", 1, 0, 5000)
    os.kill(server.child.pid, signal.SIGKILL)
    wait_until_gone(server.child.identity)
    assert not server.is_alive()
    server.start()
    try:
        assert get_key(server) == b"7"
    finally:
        server.stop()


def test_the_password_is_asked_for_and_only_its_owner_can_read_it(paths: Paths) -> None:
    server = EmbeddedValkey(paths, throwaway=True)
    server.start()
    try:
        assert server.child is not None
        secret = (paths.secrets_dir / "valkey-password").read_text()
        assert secret not in Path(f"/proc/{server.child.pid}/cmdline").read_text()
        assert (paths.run_dir / "valkey.conf").stat().st_mode & 0o777 == 0o600
        with redis.Redis(port=server.port) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
    finally:
        server.stop()
