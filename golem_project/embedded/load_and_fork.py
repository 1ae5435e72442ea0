"""Loads the product once and becomes several of its processes: what is loaded is shared, and nobody loads it again.

Run as `python -m golem_project.embedded.load_and_fork STARTER LIBRARY...`. The libraries are loaded at once. The first
line of JSON on the input has `environment` (variables to add), `modules` (loaded with them) and `outputs` (descriptors
that this process was given). Every further line is a list of children, each with `name`, `argv` (a command line of this
Python: `-m MODULE` or a script, with options) and `output`, one of the descriptors. Each is answered by a line: process
ids by name.

A child belongs to the process STARTER, which asked the kernel for what its descendants leave behind. This one ends with
its input.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
_LONGEST_NAME_BYTES = 15
_LOOK_SECONDS = 0.001
_MOST_LOOKS = 5_000


def main(arguments: Sequence[str]) -> None:
    """Load, fork, answer; in a child: become what it is to be, and end with it."""
    starter = int(arguments[0])
    # What is loaded stays: a search for garbage meanwhile goes through all of it for nothing.
    gc.disable()
    for library in arguments[1:]:
        # What is not there is missed by the product itself, with its own words.
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    first = sys.stdin.readline()
    if not first:
        return
    told = json.loads(first)
    os.environ.update(told["environment"])
    for module in told["modules"]:
        importlib.import_module(module)
    if threading.active_count() != 1:
        raise SystemExit(f"loading started threads, which a fork would lose: {threading.enumerate()}")
    # Shared pages stay shared: no search for garbage writes into what was loaded before the fork.
    gc.collect()
    gc.freeze()
    gc.enable()
    for line in iter(sys.stdin.readline, ""):
        children = json.loads(line)
        started = {}
        for child in children:
            pid = _fork(starter)
            if pid == 0:
                _leave(_become, child, told["outputs"])
            started[child["name"]] = pid
        sys.stdout.write(json.dumps(started) + "\n")
        sys.stdout.flush()


def _fork(starter: int) -> int:
    """The id of a new child of `starter`; 0 in that child, which gets SIGKILL when its starter dies."""
    reading, writing = os.pipe()
    between = os.fork()
    if between:
        os.close(writing)
        os.waitpid(between, 0)
        with os.fdopen(reading) as answer:
            return int(answer.read())
    os.close(reading)
    # Its parent ends at once, so the kernel gives it to the starter.
    if child := os.fork():
        os.write(writing, str(child).encode())
        os._exit(0)
    os.close(writing)
    os.setsid()
    _wait_for_parent(starter)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != starter:
        os._exit(1)
    return 0


def _leave(become: Callable[..., None], *arguments: object) -> NoReturn:
    """Run a child to its end, and leave as a forked process of `multiprocessing` does: threads and exit handlers are
    waited for, and what was loaded is not taken apart, which takes longer than some commands.
    """
    status = 0
    try:
        become(*arguments)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001  (told as the interpreter tells it; this is the end of the process)
        status = 1
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def _wait_for_parent(starter: int) -> None:
    for _ in range(_MOST_LOOKS):
        if os.getppid() == starter:
            return
        time.sleep(_LOOK_SECONDS)
    sys.stderr.write("the starter is gone\n")
    os._exit(1)


def _become(child: dict[str, Any], outputs: Sequence[int]) -> None:  # Any: JSON of the starter
    """Run the child's command line in this process."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(child["output"], 1)
    os.dup2(child["output"], 2)
    for descriptor in {nothing, *outputs} - {0, 1, 2}:
        os.close(descriptor)
    name = f"golem-{child['name']}".encode()[:_LONGEST_NAME_BYTES]
    ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
    _python, *words = child["argv"]
    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = words
    sys.path[0] = str(Path(words[0]).resolve().parent)
    runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
