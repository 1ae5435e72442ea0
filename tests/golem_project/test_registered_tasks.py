"""A worker knows every task of the product, whatever else its process has loaded: a schedule of one it does not know is
nobody's work.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from django.conf import settings

SCRIPT = """
from golem_project.celery import app
app.loader.import_default_modules()
print("\\n".join(app.tasks))
"""


def list_known() -> set[str]:
    """The names of the tasks that a fresh worker registers."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True, cwd=settings.BASE_DIR
    )
    return set(done.stdout.split())


def list_written() -> set[str]:
    """The names of the functions that the product's modules of tasks declare as such."""
    written = set()
    for package in ("golem_project", "permits_app", "memory_app", "tools_app", "archetypes_app"):
        for path in (Path(settings.BASE_DIR) / package).rglob("tasks.py"):
            module = ".".join(path.relative_to(settings.BASE_DIR).with_suffix("").parts)
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.FunctionDef) and any(
                    "shared_task" in ast.unparse(one) for one in node.decorator_list
                ):
                    written.add(f"{module}.{node.name}")
    return written


def test_a_fresh_worker_knows_every_task_that_is_written_and_every_one_that_is_scheduled() -> None:
    known, written = list_known(), list_written()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert len(written) > 30
    assert written - known == set()
    assert scheduled - known == set()
