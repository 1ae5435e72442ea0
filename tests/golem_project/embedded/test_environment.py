"""The environment that our processes are started with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from golem_project.embedded.environment import COMPILED_MODULES, current_environment, keep_compiled_modules


def test_modules_are_compiled_once_though_the_environment_forbids_to_write_them(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("")
    environment = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tmp_path)}
    keep_compiled_modules(environment, tmp_path / "kept")
    subprocess.run([sys.executable, "-c", "import slow"], env=environment, cwd=tmp_path, check=True)
    assert [path.name.split(".")[0] for path in (tmp_path / "kept").rglob("slow*.pyc")] == ["slow"]
    assert not (tmp_path / "__pycache__").exists()


def test_a_place_that_the_environment_names_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/somewhere")
    assert current_environment()["PYTHONPYCACHEPREFIX"] == "/somewhere"
    monkeypatch.delenv("PYTHONPYCACHEPREFIX")
    assert current_environment()["PYTHONPYCACHEPREFIX"] == str(COMPILED_MODULES)
