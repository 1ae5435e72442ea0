"""Where data goes, and what is said when it cannot go there."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
from itertools import takewhile
from pathlib import Path

import pytest

from golem_project.embedded.environment import base_environment, load_env_file
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT, Paths, ServerAccount, can_enter, locate
from golem_project.embedded.process import ProcessIdentity, identify, write_record
from golem_project.embedded.secret_files import read_or_make_secret
from golem_project.embedded.system_folder import system_data_dir
from golem_project.embedded.throwaway import OWNER_FILE, PREFIX, sweep_abandoned, throwaway_paths
from tests.golem_project.embedded.conftest import as_root

NOBODY = ServerAccount(65534, 65534)


@as_root
def test_the_system_folder_is_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    variables = {"GOLEM_VAR_DIR": str(closed / "var")}
    folder = system_data_dir(closed / "var")
    try:
        assert locate(variables).data_dir == folder
        first = capsys.readouterr().err
        assert locate(variables).data_dir == folder
        assert capsys.readouterr().err == ""
    finally:
        (folder / "belongs-to").unlink()
        folder.rmdir()
    assert f"its data lies in {folder}" in first
    assert first.count("\n") == 1


def test_whether_an_account_can_enter_depends_on_every_folder_above(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    # A worker of a parallel run has one folder of pytest's more above it.
    above = takewhile(lambda folder: folder != Path(tempfile.gettempdir()), tmp_path.parents)
    for folder in (tmp_path, *above):
        folder.chmod(0o711)
    assert can_enter(inner, NOBODY)
    inner.parent.chmod(0o700)
    assert not can_enter(inner, NOBODY)
    os.chown(inner.parent, 65534, -1)
    assert can_enter(inner, NOBODY)


def test_a_var_folder_that_cannot_be_made_is_one_line_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedError, match="cannot be written .* Fix: set GOLEM_VAR_DIR") as caught:
        locate({"GOLEM_VAR_DIR": str(tmp_path / "file" / "var")})
    assert "\n" not in str(caught.value)


def test_secrets_are_made_once_and_for_their_owner_only(paths: Paths) -> None:
    exported = base_environment(paths, {})
    files = {name: Path(value) for name, value in exported.items() if name.endswith("_FILE")}
    assert sorted(files) == ["GOLEM_KEYSTORE_PASSPHRASE_FILE", "GOLEM_SECRET_KEY_FILE"]
    before = {name: path.read_text() for name, path in files.items()}
    assert all(path.stat().st_mode & 0o777 == 0o600 and len(path.read_text()) >= 40 for path in files.values())
    base_environment(paths, {})
    assert before == {name: path.read_text() for name, path in files.items()}


def test_a_given_secret_is_not_replaced_by_a_file(paths: Paths) -> None:
    exported = base_environment(paths, {"GOLEM_KEYSTORE_PASSPHRASE": "own", "GOLEM_SECRET_KEY_FILE": "/run/own"})
    assert sorted(exported) == ["GOLEM_CACHE_DIR", "GOLEM_VAR_DIR"]
    assert not (paths.var_dir / "keystore_passphrase").exists()


def test_an_emptied_secret_file_is_refused_instead_of_used(paths: Paths) -> None:
    path = paths.var_dir / "keystore_passphrase"
    path.touch()
    with pytest.raises(EmbeddedError, match="is empty. Fix: restore it"):
        read_or_make_secret(path)


def test_many_processes_that_make_a_secret_at_once_get_the_same_one(paths: Paths) -> None:
    program = "import sys; from pathlib import Path; from golem_project.embedded.secret_files import *; "
    program += "sys.stdin.read(1); print(read_or_make_secret(Path(sys.argv[1])))"
    command = [sys.executable, "-c", program, str(paths.var_dir / "shared")]
    makers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=CHECKOUT, text=True)
        for _ in range(6)
    ]
    answers = {maker.communicate("g", timeout=20)[0] for maker in makers}
    assert len(answers) == 1
    assert [path.name for path in paths.var_dir.glob(".shared*")] == []


def test_env_files_add_what_is_missing_and_refuse_what_they_do_not_understand(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# a comment\n\nFIRST=1\nexport SECOND='two words'\nTHIRD=a=b\nGIVEN=file\n")
    environment = {"GIVEN": "already"}
    load_env_file(environment, file)
    assert environment == {"GIVEN": "already", "FIRST": "1", "SECOND": "two words", "THIRD": "a=b"}
    file.write_text("FIRST=1\nnonsense\n")
    with pytest.raises(EmbeddedError, match="line 2 is not NAME=value"):
        load_env_file({}, file)


def test_throw_away_folders_go_with_the_block_and_those_of_killed_processes_with_the_next(tmp_path: Path) -> None:
    with throwaway_paths() as made:
        folder = made.var_dir
        assert folder.is_dir()
    assert not folder.exists()
    mine = identify(os.getpid())
    assert mine is not None
    gone = ProcessIdentity(mine.pid, mine.started_at_ticks - 1, mine.boot_id)
    for name, owner in (("dead", gone), ("alive", mine)):
        (tmp_path / f"{PREFIX}{name}").mkdir()
        write_record(tmp_path / f"{PREFIX}{name}" / OWNER_FILE, dataclasses.asdict(owner))
    (tmp_path / f"{PREFIX}unknown").mkdir()
    assert sweep_abandoned(tmp_path) == [tmp_path / f"{PREFIX}dead"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}alive", f"{PREFIX}unknown"]
