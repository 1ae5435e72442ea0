"""Set-up does nothing when nothing changed, notices every change, and fails in one line."""

from __future__ import annotations

import importlib.metadata
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from golem_project.embedded import bootstrap
from golem_project.embedded.paths import CHECKOUT

SCRIPT = CHECKOUT / "golem_project" / "embedded" / "bootstrap.py"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with nothing installed yet, for the functions of the module."""
    (tmp_path / "requirements.txt").write_text("django==5.2.19\n")
    (tmp_path / "constraints.txt").write_text("# locked\ndjango==5.2.19\n")
    (tmp_path / "packages.lock").write_text("# locked\ndjango==5.2.19 \\\n    --hash=sha256:00\n")
    for name, path in {
        "CHECKOUT": "",
        "VENV": ".venv",
        "VENV_PYTHON": ".venv/bin/python",
        "STAMP": ".venv/golem-setup.stamp",
        "REQUIREMENTS": "requirements.txt",
        "CONSTRAINTS": "constraints.txt",
        "LOCK": "packages.lock",
    }.items():
        monkeypatch.setattr(bootstrap, name, tmp_path / path)
    return tmp_path


def test_the_second_run_says_nothing_and_takes_well_under_a_second() -> None:
    if not bootstrap.is_installed(bootstrap.wanted_stamp()):
        pytest.fail("these tests run in an environment that `make setup` did not make: run `make setup`")
    begun = _time_of_children()
    command = [str(Path(sys.base_prefix) / "bin" / "python3"), "-I", str(SCRIPT), "--no-world"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    # Processor time: what else runs on the machine takes none of it.
    assert _time_of_children() - begun < 1.0


def _time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("file", ["requirements.txt", "constraints.txt", "packages.lock"])
def test_a_change_of_the_locked_packages_is_noticed(checkout: Path, file: str) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").touch()
    stamp = bootstrap.wanted_stamp()
    bootstrap.STAMP.write_text(stamp)
    assert bootstrap.is_installed(stamp)
    (checkout / file).write_text("django==5.2.20\n")
    assert not bootstrap.is_installed(bootstrap.wanted_stamp())


def test_another_python_or_another_place_is_noticed(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bootstrap.wanted_stamp()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "3.12.0")
        assert bootstrap.wanted_stamp() != before
    monkeypatch.setattr(bootstrap, "VENV", checkout / "moved" / ".venv")
    assert bootstrap.wanted_stamp() != before


def test_a_stamp_without_an_environment_counts_for_nothing(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    bootstrap.STAMP.write_text(bootstrap.wanted_stamp())
    assert not bootstrap.is_installed(bootstrap.wanted_stamp())


def test_an_environment_is_usable_where_it_was_made_and_while_it_works(checkout: Path) -> None:
    assert not bootstrap.is_usable()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(checkout / ".venv")], check=True, timeout=60)
    assert bootstrap.is_usable()
    settings = checkout / ".venv" / "pyvenv.cfg"
    made_here = settings.read_text()
    settings.write_text(made_here.replace(str(checkout), "/somewhere/else"))
    assert not bootstrap.is_usable()
    settings.write_text(made_here)
    bootstrap.VENV_PYTHON.unlink()
    bootstrap.VENV_PYTHON.write_text("#!/bin/sh\nexit 1\n")
    bootstrap.VENV_PYTHON.chmod(0o755)
    assert not bootstrap.is_usable()


def test_an_environment_that_is_not_usable_is_made_anew(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "left-over").touch()
    bootstrap.make_environment()
    assert bootstrap.is_usable()
    assert not (checkout / ".venv" / "left-over").exists()
    assert "making it anew" in capsys.readouterr().err


def test_an_old_python_is_told_which_one_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(bootstrap.SetupError, match=r"3\.11 or newer is needed\. Fix: install it") as caught:
        bootstrap.require_python()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("answer", "goes_on"), [("exit 0", True), ("exit 1", False)])
def test_the_distributions_python_is_preferred_where_it_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, goes_on: bool
) -> None:
    system = tmp_path / "python3"
    system.write_text(f"#!/bin/sh\n{answer}\n")
    system.chmod(0o755)
    begun: list[list[str]] = []
    monkeypatch.setattr(bootstrap, "SYSTEM_PYTHON", system)
    monkeypatch.setattr(os, "execv", lambda _, command: begun.append(command))
    bootstrap.prefer_system_python()
    assert [command[0] for command in begun] == ([str(system)] if goes_on else [])
    begun.clear()
    monkeypatch.setattr(bootstrap, "SYSTEM_PYTHON", Path(sys.executable))
    bootstrap.prefer_system_python()
    assert begun == []


def test_a_python_without_venv_is_told_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(bootstrap.SetupError, match=r"no venv module\. Fix: apt-get install python3\.\d+-venv"):
        bootstrap.require_machine()


def test_another_machine_is_refused_before_anything_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(bootstrap.SetupError, match="built for Linux on x86_64, this is linux on aarch64"):
        bootstrap.require_machine()


def test_the_script_runs_under_a_python_with_nothing_installed_and_parses_under_an_old_one() -> None:
    compile(SCRIPT.read_text(), str(SCRIPT), "exec", flags=0, dont_inherit=True, optimize=-1, _feature_version=7)
    result = subprocess.run([sys.executable, "-I", "-S", str(SCRIPT), "--help"], capture_output=True, timeout=30)
    assert result.returncode == 0


def test_a_chosen_browser_is_used_and_a_wrong_choice_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM_PATH", sys.executable)
    assert bootstrap.find_browser() == sys.executable
    monkeypatch.setenv("CHROMIUM_PATH", "/no/such/browser")
    assert bootstrap.find_browser() is None


def test_what_is_installed_is_exactly_what_is_locked() -> None:
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)$", (CHECKOUT / "constraints.txt").read_text(), re.MULTILINE))
    differing = {
        name: importlib.metadata.version(name)
        for name, version in locked.items()
        if importlib.metadata.version(name) != version
    }
    assert differing == {}
    required = re.findall(
        r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", (CHECKOUT / "requirements.txt").read_text(), re.MULTILINE
    )
    assert {name: locked.get(name) for name, _ in required} == dict(required)
