"""Processes that share one loading are children like others: of their starter, each itself, and gone with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.forked_children import LoadingProcess, Loads
from golem_project.embedded.process import identify
from golem_project.embedded.product_process_plans import ChildPlan
from tests.golem_project.embedded.conftest import Starter, identity_of, kill_hard, read_line, wait_until_gone

LOADED = "import os\nloaded_by = os.getpid()\n"
SAYS = """
import os, sys, time
import loaded_module
print(loaded_module.loaded_by, os.getpid(), os.getppid(), os.getsid(0), sys.argv[1], os.environ["TOLD"], flush=True)
time.sleep(600)
"""


def pause() -> None:
    pass


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    (tmp_path / "loaded_module.py").write_text(LOADED)
    (tmp_path / "says.py").write_text(SAYS)
    (tmp_path / "threads.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    return tmp_path


@pytest.fixture
def pipes() -> Iterator[dict[str, tuple[int, int]]]:
    made = {name: os.pipe() for name in ("first", "second", "log")}
    yield made
    for ends in made.values():
        for end in ends:
            os.close(end)


def begin(modules: Path, pipes: dict[str, tuple[int, int]], *loaded: str) -> LoadingProcess:
    loading = LoadingProcess(
        Loads(("json", "no_such_library"), loaded),
        environment={"PATH": os.environ["PATH"], "PYTHONPATH": f"{Path.cwd()}:{modules}"},
        outputs={name: pipes[name][1] for name in ("first", "second")},
        log=pipes["log"][1],
        cwd=modules,
    )
    loading.load({"TOLD": "later"})
    return loading


def test_children_share_what_was_loaded_and_are_each_a_process_of_their_starter(
    modules: Path, pipes: dict[str, tuple[int, int]]
) -> None:
    loading = begin(modules, pipes, "loaded_module")
    plans = [
        ChildPlan("first", (sys.executable, "-m", "says", "one")),
        ChildPlan("second", (sys.executable, "says.py", "two")),
    ]
    children = {**loading.fork(plans[:1], pause=pause), **loading.fork(plans[1:], pause=pause)}
    loading.end()
    try:
        said = {name: os.read(pipes[name][0], 1000).decode().split() for name in children}
        loaders = {words[0] for words in said.values()}
        assert len(loaders) == 1
        for name, child in children.items():
            assert said[name][1:4] == [str(child.pid), str(os.getpid()), str(child.pid)]
            assert said[name][4:] == [{"first": "one", "second": "two"}[name], "later"]
            assert not child.has_ended()
        assert identify(int(loaders.pop())) is None
    finally:
        ends = [child.stop() for child in children.values()]
    assert ends == [-signal.SIGTERM, -signal.SIGTERM]


@pytest.mark.parametrize(
    ("module", "words"), [("no_such_module", "No module named"), ("threads", "loading started threads")]
)
def test_what_does_not_load_or_cannot_be_forked_is_refused_with_its_words(
    modules: Path, pipes: dict[str, tuple[int, int]], module: str, words: str
) -> None:
    loading = begin(modules, pipes, module)
    with pytest.raises(EmbeddedError, match="does not load"):
        loading.fork([], pause=pause)
    loading.end()
    assert words in os.read(pipes["log"][0], 10_000).decode()


def test_a_loading_that_is_given_up_leaves_nothing(modules: Path, pipes: dict[str, tuple[int, int]]) -> None:
    loading = begin(modules, pipes, "loaded_module")
    loading.end()
    # The pipe has an end only here now.
    os.set_blocking(pipes["first"][0], False)
    with pytest.raises(BlockingIOError):
        os.read(pipes["first"][0], 1)


def test_forked_children_end_when_their_starter_is_killed(start_program: Starter, modules: Path) -> None:
    starter = start_program(
        f"""
        import os, time
        from pathlib import Path
        from golem_project.embedded.product_process_plans import ChildPlan
        from golem_project.embedded.forked_children import LoadingProcess, Loads
        environment = {{**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"] + ":{modules}", "TOLD": "early"}}
        log, here, loads = os.dup(1), Path("{modules}"), Loads((), ("loaded_module",))
        loading = LoadingProcess(loads, environment=environment, outputs={{"one": log}}, log=2, cwd=here)
        loading.load({{}})
        loading.fork([ChildPlan("one", (sys.executable, "-m", "says", "x"))], pause=lambda: time.sleep(0.01))
        sys.stdin.read()
        """
    )
    child = identity_of(int(read_line(starter).split()[1]))
    kill_hard(starter)
    wait_until_gone(child)
    assert not child.is_alive()
