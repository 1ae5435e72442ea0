"""Uniswap's SDKs as the product starts them, for as long as a test needs them."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm_tree import newest_node
from golem_project.embedded.process import dying_with_us
from golem_project.embedded.sdk_bundle import READY_LINE, make_bundle, sdk_command

_READY_SECONDS = 60


@contextmanager
def run_sdk(*, seconds: str = "", mebibytes: str = "") -> Iterator[Path]:
    """The socket at which they answer; `seconds` is how long a sum may take, `mebibytes` how much memory a thread of
    theirs may, where it is not the usual. With too little of it none gets ready, and their door is open all the same.

    Without a network the first time the test is skipped, on the build machine it fails.
    """
    try:
        bundle = make_bundle()
    except EmbeddedError as error:
        if os.environ.get("CI") or "npm ci" not in str(error):
            raise
        pytest.skip(f"not run: {error}")
    with tempfile.TemporaryDirectory(prefix="golem-sdk-") as folder:
        path, log = Path(folder) / "sdk.sock", Path(folder) / "log"
        argv: tuple[str, ...] = sdk_command(bundle, path)
        environment = dict(os.environ)
        own = {name: value for name, value in (("SECONDS", seconds), ("MEBIBYTES", mebibytes)) if value}
        if own:
            argv = (newest_node(), str(bundle), str(path))
            environment = {f"GOLEM_SDK_{name}": value for name, value in own.items()}
        with log.open("wb") as output:
            process = subprocess.Popen(dying_with_us(argv), stdout=output, stderr=output, env=environment)
        try:
            until = time.monotonic() + _READY_SECONDS
            while not (path.exists() if mebibytes else READY_LINE in log.read_text()) and time.monotonic() < until:
                assert process.poll() is None, log.read_text()
                time.sleep(0.02)
            yield path
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
