"""The last release's code runs its own tests on the tables as this version's migrations leave them.

Its tree is taken out of git into a folder of its own. Its tests read in a database that somebody migrated before,
found by a fingerprint of its migrations; what they find there is what this checkout's migrations made, so that its own
`migrate` has nothing left to do. So it is while both versions run at once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from golem_project.embedded.paths import CHECKOUT
from golem_project.upgrades.columns import load_last_release
from tests.migrated_database import find_kept
from tests.proof.registry import Progress, proof

_TESTS: Final = (
    "tests/archetypes_app",
    "tests/memory_app",
    "tests/factories/test_shapes.py",
    "tests/golem_project/test_edges_of_rows.py",
    "tests/golem_project/test_lifetimes.py",
    "tests/golem_project/test_status.py",
    "tests/golem_project/pi/test_last_release.py",
    "tests/golem_project/heartbeat/test_duties.py",
    "tests/permits_app/test_lifecycle.py",
    "tests/permits_app/test_ledger.py",
    "tests/permits_app/test_create_golem.py",
    "tests/permits_app/execution/test_reconcile.py",
    "tests/tools_app/core/test_audit.py",
)
"""Of its models and its REST interface; its pages and its protocols write through the same ones."""
_EXPECTED: Final[dict[str, str]] = {
    "tests.archetypes_app.test_commands.test_a_database_that_waits_for_its_migrations_is_not_read": (
        "it takes the newest migration back, which is one of this version that the release does not know"
    ),
}
"""Tests of the last release that may fail on these tables, with the reason why an upgrade lives with it."""
_NOT_HANDED_ON: Final = (
    "DJANGO_SETTINGS_MODULE",
    "DATABASE_URL",
    "REDIS_URL",
    "GOLEM_RPC_URL_31337",
    "GOLEM_VAR_DIR",
    "GOLEM_WEB_PORT",
)
_EMPTYING: Final = "emptying_with_new_tables"
_EMPTYING_SOURCE: Final = """
def pytest_sessionstart():
    from django.db.backends.postgresql.operations import DatabaseOperations

    flush = DatabaseOperations.sql_flush

    def flush_all(self, *given, **options):
        return flush(self, *given, **{**options, "allow_cascade": True})

    DatabaseOperations.sql_flush = flush_all
"""
"""A plugin for its tests: tables of this version refer to those that a test empties, and are emptied along."""
_MIGRATE: Final = "tests/architecture/test_expand_and_contract.py::test_this_version_fits_its_own_tables"
_DIGEST: Final = "from tests.migrated_database import _digest; print(_digest())"


@proof(id="last-release", what="the last release's own tests run on the tables of this version", rounds=1)
def prove_last_release(progress: Progress) -> None:
    """One round; a clone without the release's commit cannot run it and says so."""
    for _ in progress.remaining():
        version = load_last_release().version
        commit = _find_commit(version)
        if commit is None:
            progress.findings.append(f"the commit of {version} is not in this clone; git fetch --unshallow brings it")
            return
        with tempfile.TemporaryDirectory(prefix="last-release-") as folder:
            tree = Path(folder)
            _take_out(commit, tree)
            _lay_tables(tree)
            passed, failed = _run_tests(tree)
        progress.notes.append(f"{version} ({commit[:8]}): {passed} of its tests pass, {len(failed)} fail")
        progress.notes += [f"expected: {name}: {_EXPECTED[name]}" for name in failed if name in _EXPECTED]
        progress.findings += [f"{name}: {words}" for name, words in failed.items() if name not in _EXPECTED]
        if not passed:
            progress.findings.append("none of its tests ran")


def _git(*words: str) -> str:
    return subprocess.run(("git", *words), cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout


def _find_commit(version: str) -> str | None:
    """The commit that gave the version its number, where the history is here."""
    found = _git("log", "--reverse", "--format=%H", f'-Sversion = "{version}"', "--", "pyproject.toml").split()
    return found[0] if found else None


def _take_out(commit: str, tree: Path) -> None:
    with subprocess.Popen(("git", "archive", commit), cwd=CHECKOUT, stdout=subprocess.PIPE) as packed:
        subprocess.run(("tar", "x", "-C", str(tree)), stdin=packed.stdout, check=True)
    kept = CHECKOUT / "var" / "cache"
    for each in kept.iterdir() if kept.exists() else ():
        if each.name != "test-databases":
            _copy(each, tree / "var" / "cache" / each.name)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target)


def _lay_tables(tree: Path) -> None:
    """What this checkout's migrations made goes where the release's tests look for what theirs made."""
    _python(CHECKOUT, "-m", "pytest", "-q", "-n", "0", _MIGRATE)
    name = _python(tree, "-c", _DIGEST).stdout.split()[-1]
    target = tree / "var" / "cache" / "test-databases" / f"{name}.sql"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(find_kept(), target)


def _run_tests(tree: Path) -> tuple[int, dict[str, str]]:
    """How many passed, and what each that failed says."""
    report = tree / "report.xml"
    there = [each for each in _TESTS if (tree / each).exists()]
    (tree / f"{_EMPTYING}.py").write_text(_EMPTYING_SOURCE)
    _python(
        tree,
        "-m",
        "pytest",
        "-p",
        _EMPTYING,
        "-q",
        "-n",
        "1",
        "-o",
        "timeout=1500",
        f"--junit-xml={report}",
        *there,
        check=False,
    )
    cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    failed = {
        f"{case.get('classname')}.{case.get('name')}": re.sub(r"\s+", " ", found.get("message", ""))[:300]
        for case in cases
        for found in (*case.findall("failure"), *case.findall("error"))
    }
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - len(failed) - skipped, failed


def _python(where: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    environment["PYTHONPATH"] = str(where)
    return subprocess.run(
        (sys.executable, *words), cwd=where, env=environment, check=check, stdout=subprocess.PIPE, text=True
    )
