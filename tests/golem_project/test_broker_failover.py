"""A broker that Sentinels watch falls over to another in the middle of work, and one behind TLS is spoken to so."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from golem_project.embedded.process import free_port
from golem_project.embedded.valkey import find_server
from tests.golem_project.test_drain import QUEUE, running, worker
from tools_app.core import broker, clock, liveness
from tools_app.core.broker_address import read_watched

pytestmark = pytest.mark.timeout(600)
PASSWORD = "a b@c"
QUOTED = "a%20b%40c"
# What web servers do with the broker, as a process of its own: send a task and wait for it, keep something, pulse.
CALLER = """
import django, sys
django.setup()
from django.core.cache import cache
from golem_project.celery import app
from tools_app.core import clock, liveness
kwargs = {"begun": sys.argv[1], "done": sys.argv[2], "seconds": 0}
print(app.send_task("tests.slow_tasks.slow_task", kwargs=kwargs, queue=sys.argv[3]).get(timeout=60))
cache.set("kept", "so")
print(cache.get("kept"))
liveness.beat("beat", now=clock.now())
"""


def call(url: str, folder: Path) -> list[str]:
    environment = {**os.environ, "REDIS_URL": url, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test"}
    argv = [sys.executable, "-W", "ignore", "-c", CALLER, str(folder / "begun"), str(folder / "done"), QUEUE]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


def serve(log_path: Path, port: int, *words: str) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    argv = [str(find_server()), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(log_path.parent)]
    return running([*argv, "--requirepass", PASSWORD, "--primaryauth", PASSWORD, "--save", "", *words], log_path)


@contextmanager
def watched(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], int]]:
    """A broker, its replica, and three Sentinels: the address, the broker's process, and the replica's port."""
    first, second, *watchers = (free_port() for _ in range(5))
    with ExitStack() as held:
        process = held.enter_context(serve(folder / "first.log", first))
        wait_until(lambda: ask(first).ping())
        held.enter_context(serve(folder / "second.log", second, "--replicaof", f"127.0.0.1 {first}"))
        wait_until(lambda: ask(first).info("replication")["connected_slaves"] == 1)
        for port in watchers:
            settings = folder / f"sentinel-{port}.conf"
            settings.write_text(
                f"port {port}\nbind 127.0.0.1\ndir {folder}\nsentinel monitor golem 127.0.0.1 {first} 2\n"
                f'sentinel auth-pass golem "{PASSWORD}"\nsentinel down-after-milliseconds golem 1000\n'
                "sentinel failover-timeout golem 5000\n"
            )
            argv = [str(find_server()), str(settings), "--sentinel"]
            held.enter_context(running(argv, folder / f"{port}.log"))
        for port in watchers:
            wait_until(lambda port=port: knows_others(port))  # type: ignore[misc]
        places = ",".join(f"127.0.0.1:{port}" for port in watchers)
        yield f"redis+sentinel://:{QUOTED}@{places}/golem/0", process, second


def ask(port: int) -> Any:
    return redis.Redis(port=port, password=PASSWORD, socket_timeout=2)


def knows_others(port: int) -> bool:
    found: Any = redis.Redis(port=port, socket_timeout=2).sentinel_master("golem")
    return bool(found["num-other-sentinels"] == 2 and found["num-slaves"] == 1)


def wait_until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(redis.RedisError, KeyError):
            if is_so():
                return
        time.sleep(0.1)
    raise AssertionError("it did not come to that within a minute")


def test_a_broker_that_dies_is_followed_by_its_replica_and_the_work_goes_on(
    django_db_setup: None, tmp_path: Path, settings: Any
) -> None:
    with watched(tmp_path) as (url, process, second), worker(tmp_path / "log", "threads", REDIS_URL=url):
        settings.REDIS_URL = url
        client = broker.connect()
        assert client.set("mine", "before") and call(url, tmp_path) == ["finished", "so"]
        wait_until(lambda: ask(second).get("mine") == b"before")
        process.kill()
        process.wait()
        wait_until(lambda: client.set("mine", "after"))
        assert ask(second).get("mine") == b"after"
        assert call(url, tmp_path) == ["finished", "so"]
        assert (tmp_path / "done").read_text() == "once\n" * 2
        assert "beat" not in {silence.name for silence in liveness.list_silent(now=clock.now())}


class Encrypting(threading.Thread):
    """Speaks TLS on a port of its own and hands on to another what it hears."""

    def __init__(self, folder: Path, behind: int) -> None:
        super().__init__(daemon=True)
        self.authorities = folder / "certificate.pem"
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
        key = folder / "key.pem"
        subprocess.run([*making, "-keyout", str(key), "-out", str(self.authorities)], check=True, capture_output=True)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.authorities, key)
        self._behind = behind
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.start()

    def run(self) -> None:
        while True:
            plain, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError):
            there = socket.create_connection(("127.0.0.1", self._behind))
            here = self._context.wrap_socket(plain, server_side=True)
            here.settimeout(0.02)
            there.settimeout(0.02)
            while True:
                for source, target in ((here, there), (there, here)):
                    try:
                        heard = source.recv(65_536)
                    except TimeoutError:
                        continue
                    if not heard:
                        return
                    target.settimeout(5)
                    target.sendall(heard)
                    target.settimeout(0.02)


def test_a_broker_behind_tls_is_reached_by_every_part_and_a_stranger_in_its_place_is_not(
    django_db_setup: None, tmp_path: Path, settings: Any
) -> None:
    port = free_port()
    with serve(tmp_path / "server.log", port):
        wait_until(lambda: ask(port).ping())
        encrypting = Encrypting(tmp_path, port)
        place = f"rediss://:{QUOTED}@localhost:{encrypting.port}/0"
        url = f"{place}?ssl_ca_certs={encrypting.authorities}"
        with worker(tmp_path / "log", "threads", REDIS_URL=url):
            assert call(url, tmp_path) == ["finished", "so"]
        settings.REDIS_URL = place
        # Nobody known vouches for it.
        with pytest.raises(redis.ConnectionError, match="certificate"):
            broker.open_client().ping()


def test_the_address_of_a_watched_broker_is_read_and_a_wrong_one_refused() -> None:
    found = read_watched("rediss+sentinel://me:p%40w@a:1,b,[::1]:7/golem/3?sentinel_password=x&ssl_ca_certs=/ca.pem")
    assert found is not None and found.watchers == (("a", 1), ("b", 26_379), ("::1", 7))
    assert found.credentials == {"db": 3, "username": "me", "password": "p@w"}
    assert found.watchers_credentials == {"password": "x"}
    assert found.encryption == {"ssl": True, "ssl_ca_certs": "/ca.pem"}
    assert found.queue_address.split(";")[0] == "sentinel://me:p%40w@a:1/3"
    assert read_watched("redis://:x@a:1/0") is None
    for wrong in ("redis+sentinel://a:1", "redis+sentinel:///golem"):
        with pytest.raises(ValueError, match="HOST:PORT"):
            read_watched(wrong)
