"""Machine code of modules that take long to compile, kept on the disk for the other processes of this installation.

What is deserialized runs as it is, so a file is taken only under a seal that whoever has no secret of this installation
cannot make. It may vanish at any time: then its module is compiled again.
"""

from __future__ import annotations

import fcntl
import hmac
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from tools_app.sandbox.limits import MEBIBYTE

logger = logging.getLogger(__name__)

KEPT_FROM_BYTES: Final = MEBIBYTE
"""A smaller module compiles in a second or two, in each process of its own."""
_MOST_BYTES: Final = 1024 * MEBIBYTE
_SEAL_BYTES: Final = 32
_SEALED_AS: Final = "tools_app.sandbox.compiled_code_store.2"
"""Another number whenever a module is looked at in another way before it is compiled: what was kept is then no code."""


def find_code(sha256: str) -> bytes | None:
    """What was kept of the module with this hash; None where nothing was, or where somebody else wrote it."""
    path = _folder() / sha256
    try:
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    code = content[_SEAL_BYTES:]
    if not hmac.compare_digest(content[:_SEAL_BYTES], _seal(sha256, code)):
        logger.warning("the kept code of module %s has another seal and is left alone", sha256[:12])
        return None
    return code


def keep_code(sha256: str, code: bytes) -> None:
    """Keep `code` under the hash of its module. A disk that takes nothing keeps nobody from running it."""
    try:
        folder = _open_folder()
        _make_room(folder, len(code))
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_seal(sha256, code))
                file.write(code)
            Path(name).rename(folder / sha256)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        logger.warning("the code of module %s could not be kept: %s", sha256[:12], error)


@contextmanager
def compiling_alone() -> Iterator[None]:
    """Inside, no other process of this installation compiles a large module on this machine."""
    try:
        lock = (_open_folder() / ".lock").open("a")
    except OSError as error:
        logger.warning("modules are compiled without a lock: %s", error)
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _seal(sha256: str, code: bytes) -> bytes:
    key = salted_hmac(_SEALED_AS, sha256, algorithm="sha256").digest()
    return hmac.digest(key, code, "sha256")


def _folder() -> Path:
    return Path(settings.GOLEM_MODULE_CODE_DIR)


def _open_folder() -> Path:
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _make_room(folder: Path, size: int) -> None:
    """Remove what was used longest ago until `size` bytes more fit."""
    known = []
    for path in folder.iterdir():
        with suppress(OSError):
            facts = path.stat()
            known.append((facts.st_mtime_ns, facts.st_size, path))
    total = sum(each[1] for each in known) + size
    for _, taken, path in sorted(known):
        if total <= _MOST_BYTES:
            return
        if taken:
            path.unlink(missing_ok=True)
            total -= taken
