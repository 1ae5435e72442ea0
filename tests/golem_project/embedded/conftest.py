"""Folders for servers of a test's own, and programs that start them in a process that can be killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from golem_project.embedded.paths import CHECKOUT, Paths, locate
from golem_project.embedded.process import ProcessIdentity, identify
from golem_project.embedded.throwaway import make_throwaway_paths

Starter = Callable[..., subprocess.Popen[str]]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who gives the server away to nobody")


@pytest.fixture
def paths() -> Iterator[Paths]:
    """Fresh folders, removed afterwards."""
    made = make_throwaway_paths()
    yield made
    shutil.rmtree(made.var_dir, ignore_errors=True)


@pytest.fixture
def closed_paths(tmp_path: Path) -> Iterator[Paths]:
    """Folders below one that nobody else can enter."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    made = locate({"GOLEM_VAR_DIR": str(closed / "var")})
    yield made
    if made.data_dir != made.var_dir:
        shutil.rmtree(made.data_dir)


@pytest.fixture
def start_program(paths: Paths) -> Iterator[Starter]:
    """Runs Python source in a process of its own, with `paths` in scope; ends what is left afterwards."""
    running: list[subprocess.Popen[str]] = []

    def start(source: str, *, var_dir: Path = paths.var_dir) -> subprocess.Popen[str]:
        program = "import sys\nfrom golem_project.embedded.paths import locate\n"
        program += f"paths = locate({{'GOLEM_VAR_DIR': {str(var_dir)!r}}})\n" + textwrap.dedent(source)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT)}
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd="/",
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def read_line(process: subprocess.Popen[str]) -> str:
    """The next line of a program, which must come."""
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, f"the program said nothing and ended with {process.poll()}"
    return line


def start_and_wait(kind: type[object]) -> str:
    """A program that starts this server, tells whether it is its own, the port and the id, and stops it when told."""
    return textwrap.dedent(
        f"""
        from {kind.__module__} import {kind.__name__}
        server = {kind.__name__}(paths, throwaway=False)
        is_ours = server.start()
        print(is_ours, server.port, server.child.pid if server.child else 0, flush=True)
        sys.stdin.read()
        server.stop()
        """
    )


def kill_hard(process: subprocess.Popen[str]) -> None:
    """kill -9, and wait until the kernel has done it."""
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)


def identity_of(pid: int) -> ProcessIdentity:
    """The identity of a process that must run now."""
    identity = identify(pid)
    assert identity is not None
    return identity


def wait_until_gone(identity: ProcessIdentity) -> None:
    """Wait for the end of a process that is not our child; fails when it stays."""
    if identity.is_alive():
        # Between the two it may end by itself.
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(identity.pid).wait(timeout=60)
    assert not identity.is_alive()
