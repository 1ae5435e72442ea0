"""The hook that CONTRIBUTING.md offers: it lets a good commit through and stops a bad one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the hook and this project's rules, and nothing in it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / ".githooks", tmp_path / ".githooks")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "ruff").symlink_to(ROOT / ".venv" / "bin" / "ruff")
    (tmp_path / ".venv" / "bin" / "lint-imports").write_text("#!/bin/sh\n[ ! -e upward ]\n")
    (tmp_path / ".venv" / "bin" / "lint-imports").chmod(0o755)
    subprocess.run(["git", "config", "core.hooksPath", ".githooks"], cwd=tmp_path, check=True)
    return tmp_path


def commit(checkout: Path) -> subprocess.CompletedProcess[str]:
    subprocess.run(["git", "add", "-A", "*.py"], cwd=checkout, check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", *who, "commit", "-qm", "x"], cwd=checkout, capture_output=True, text=True, env=environment
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def test_a_commit_is_stopped_for_its_format_its_faults_and_its_imports(checkout: Path) -> None:
    file = checkout / "one file.py"
    file.write_text('"""One."""\n\nONE = {  "a":1}\n')
    assert "would be reformatted" in said(commit(checkout))
    file.write_text('"""One."""\n\nimport os\n')
    assert "F401" in said(commit(checkout))
    file.write_text('"""One."""\n\nONE = {"a": 1}\n')
    (checkout / "upward").touch()
    assert "an import points up" in said(commit(checkout))
    (checkout / "upward").unlink()
    done = commit(checkout)
    assert done.returncode == 0, said(done)
