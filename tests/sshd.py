"""A real OpenSSH server on loopback, for the account that runs the tests."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SSHD = shutil.which("sshd") or next((path for path in ("/usr/sbin/sshd",) if os.path.exists(path)), None)


@dataclass
class Sshd:
    """A server of its own folder; `authorized` holds the keys it lets in."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def username(self) -> str:
        return getpass.getuser()

    @property
    def authorized(self) -> Path:
        return self.folder / "authorized_keys"

    @property
    def host_key(self) -> str:
        return (self.folder / "host.pub").read_text().strip()

    def make_host_key(self, kind: str = "ed25519") -> None:
        for name in ("host", "host.pub"):
            (self.folder / name).unlink(missing_ok=True)
        subprocess.run(
            ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(self.folder / "host")], check=True, timeout=30
        )

    def start(self, *, has_sftp: bool = True) -> None:
        """Begin to listen, with or without SFTP."""
        assert SSHD is not None
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        config = self.folder / "config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\nPidFile none\nUsePAM no\n"
            f"StrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nPrintMotd no\n"
            f"AuthorizedKeysFile {self.authorized}\n" + ("Subsystem sftp internal-sftp\n" if has_sftp else "")
        )
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(config)], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < deadline and self.process.poll() is None, "sshd did not start"
                time.sleep(0.05)

    def stop(self) -> None:
        """End it and every session it serves."""
        if self.process is not None:
            for child in _list_children(self.process.pid):
                _kill(child)
            self.process.terminate()
            self.process.wait(timeout=10)
            self.process = None


def _list_children(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            found += [*_list_children(int(child)), int(child)]
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """A running server. Without OpenSSH here the tests are reported as not run; on the build machine that fails."""
    if SSHD is None:
        reason = "not run: no sshd here; apt-get install openssh-server"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path / "sshd"
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = Sshd(folder, port)
    server.make_host_key()
    server.authorized.write_text("")
    server.start()
    yield server
    server.stop()
