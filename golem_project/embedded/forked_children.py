"""The starter's side of `load_and_fork`: processes that share one loading of the product, children of this one."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.process import Child, dying_with_us
from golem_project.embedded.product_process_plans import ChildPlan

PR_SET_CHILD_SUBREAPER = 36
PROGRAM = "golem_project.embedded.load_and_fork"


@dataclasses.dataclass(frozen=True)
class Loads:
    """What is loaded once: `libraries` need no settings, `modules` are the product's own."""

    libraries: tuple[str, ...]
    modules: tuple[str, ...]


class ForkedProcess:
    """A child that another process forked for us: what `subprocess.Popen` is for one that was started here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended and was waited for."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end: the exit status, negative for the signal that ended it."""
        if self.returncode is None:
            _pid, status = os.waitpid(self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class LoadingProcess:
    """A process that loads what its children will share, and then forks them; begun early, beside other starts."""

    def __init__(
        self,
        loads: Loads,
        *,
        environment: Mapping[str, str],
        outputs: Mapping[str, int],
        log: int,
        cwd: Path,
    ) -> None:
        self._modules = loads.modules
        self._outputs = dict(outputs)
        program = [sys.executable, "-m", PROGRAM, str(os.getpid()), *loads.libraries]
        self._process = subprocess.Popen(  # noqa: S603
            dying_with_us(program, death_signal=signal.SIGKILL),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=dict(environment),
            pass_fds=tuple(self._outputs.values()),
            cwd=cwd,
            start_new_session=True,
        )

    def load(self, environment: Mapping[str, str]) -> None:
        """Let it load the modules, with these variables added. Returns at once."""
        told = {"environment": dict(environment), "modules": self._modules, "outputs": list(self._outputs.values())}
        self._tell(told)

    def fork(self, plans: Sequence[ChildPlan], *, pause: Callable[[], None]) -> dict[str, Child]:
        """The running children by name, once everything is loaded. Raises EmbeddedError, and what `pause` raises."""
        assert self._process.stdout is not None
        with _adopting():
            self._tell([{"name": plan.name, "argv": plan.argv, "output": self._outputs[plan.name]} for plan in plans])
            while not select.select([self._process.stdout], [], [], 0)[0]:
                pause()
            answer = self._process.stdout.readline()
        if not answer:
            raise EmbeddedError("The product does not load; its last words are above and in the log of `load`.")
        return {name: Child(name=name, process=ForkedProcess(pid)) for name, pid in json.loads(answer).items()}

    def end(self) -> None:
        """End it; its children stay."""
        with self._process as process:
            process.kill()

    def _tell(self, what: object) -> None:
        assert self._process.stdin is not None
        # One that ended already is told nothing; `fork` sees that it ended.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(what).encode() + b"\n")
            self._process.stdin.flush()


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Meanwhile what our descendants leave behind becomes our child and not the first process's of the machine."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise EmbeddedError(f"prctl failed: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
