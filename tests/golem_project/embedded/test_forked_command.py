"""What runs once after the start shares the loading of what runs beside it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

from golem_project.embedded.forked_children import Loads
from golem_project.embedded.paths import Paths
from golem_project.embedded.process_output import Output
from golem_project.embedded.product_process_plans import ChildPlan
from golem_project.embedded.stack import Stack
from tests.golem_project.embedded.test_stack import WEB, WORKER, plan_small

DEMO = """
import sys
print("loaded once," if "colorsys" in sys.modules else "loaded anew,", "told", sys.argv[1], flush=True)
sys.exit(7)
"""


def make_stack(paths: Paths, tmp_path: Path, commands: dict[str, int]) -> Stack:
    """A stack whose processes are forked from one that loaded a module for all of them."""
    for name, program in {"web": WEB, "worker": WORKER, "prepare": "", "demo": DEMO}.items():
        (tmp_path / f"{name}.py").write_text(program)

    def plan(port: int) -> tuple[ChildPlan, ...]:
        web, worker = plan_small(port)
        return (
            replace(web, argv=(sys.executable, str(tmp_path / "web.py"), str(port))),
            replace(worker, argv=(sys.executable, str(tmp_path / "worker.py"))),
        )

    return Stack(
        paths,
        throwaway=True,
        output=Output(paths.log_dir, stream=StringIO()),
        environment={
            "PATH": os.environ["PATH"],
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "GOLEM_RPC_URL_31337": "http://127.0.0.1:1",
        },
        preparation=(sys.executable, str(tmp_path / "prepare.py")),
        plan_children=plan,
        loads=Loads((), ("colorsys",)),
        commands=commands,
    )


def test_the_command_after_the_start_is_forked_from_what_was_loaded_and_writes_where_it_is_told(
    paths: Paths, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    with written.open("w") as out:
        stack = make_stack(paths, tmp_path, {"demo": out.fileno()})
        try:
            stack.start()
            assert stack._loading is not None
            assert stack.run_command("demo", (sys.executable, str(tmp_path / "demo.py"), "seven")) == 7
            assert written.read_text() == "loaded once, told seven\n"
            # What shared its loading is gone; whoever comes later is started for itself.
            assert stack._loading is None
            assert stack.run_command("again", (sys.executable, str(tmp_path / "demo.py"), "eight")) == 7
        finally:
            stack.stop()
            stack.output.close()


def test_where_no_command_comes_after_the_start_what_was_loaded_is_gone_with_it(paths: Paths, tmp_path: Path) -> None:
    stack = make_stack(paths, tmp_path, {})
    try:
        stack.start()
        assert stack._loading is None and set(stack.children) == {"web", "worker"}
    finally:
        stack.stop()
        stack.output.close()
