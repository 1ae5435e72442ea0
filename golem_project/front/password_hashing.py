"""Hands passwords one at a time to a process that hashes them and gives way, so that trying many slows nobody.

A hash takes a processor a third of a second. It is Django's own, PBKDF2 with SHA-256, so what is stored stays as it is.
Where that process cannot be had the hash is made here: nobody is kept out by it.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.utils.encoding import force_str

logger = logging.getLogger(__name__)

_CHILD: Final = Path(__file__).with_name("password_process.py")


class HashPlace:
    """The one process that hashes for this one, begun at its first use and again when it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        """Of the process; None before its first use."""
        return self._process.pid if self._process is not None else None

    def derive(self, password: str, salt: str, iterations: int) -> str:
        """The hash in base64. Waits for its turn. Raises OSError where the process cannot be had or ended meanwhile."""
        asked = json.dumps({"password": password, "salt": salt, "iterations": iterations})
        with self._lock:
            process = self._begin()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(asked + "\n")
                process.stdin.flush()
                answer = process.stdout.readline().strip()
            except OSError:
                self._end()
                raise
            if not answer:
                self._end()
                raise BrokenPipeError("the process that hashes passwords has ended")
            return answer

    def _begin(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(  # noqa: S603  (our own file, by its path)
                [sys.executable, "-I", "-S", str(_CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,
                env={},
            )
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None


PLACE: Final = HashPlace()


class GivingWayHasher(PBKDF2PasswordHasher):
    """Django's first hasher under its own name, computed at `PLACE`."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """As it is stored."""
        self._check_encode_args(password, salt)  # type: ignore[attr-defined]  # (Django's own first line of `encode`)
        rounds = iterations or self.iterations
        try:
            hashed = PLACE.derive(force_str(password), force_str(salt), rounds)
        except OSError as error:
            logger.warning("a password is hashed in the server's own process: %s", type(error).__name__)
            return super().encode(password, salt, rounds)
        return f"{self.algorithm}${rounds}${salt}${hashed}"
