"""Set-up compiles what protocols come as, once; no run of the tests waits for a compiler of theirs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world import __main__ as command
from golem_project.embedded.world import compiled, protocols
from golem_project.embedded.world.protocols import FOLDER, compile_all, find_protocol_worlds


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("a compiler was started")


def test_after_set_up_no_protocol_starts_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_all()
    monkeypatch.setattr(compiled, "run_compiler", refuse)
    compiling = [world for world in find_protocol_worlds().values() if world.compiles is not None]
    assert len(compiling) >= 4
    for world in compiling:
        assert world.compiles is not None and world.compiles(world.fetch())


def test_every_protocol_that_compiles_lets_set_up_do_it() -> None:
    for key, world in find_protocol_worlds().items():
        text = (FOLDER / f"{key}.py").read_text(encoding="utf-8")
        assert ("compile_sources(" in text) is (world.compiles is not None), key


def test_the_second_time_no_protocol_is_even_imported_until_one_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(protocols, "COMPILED_DIR", tmp_path)
    compile_all()
    monkeypatch.setattr(protocols, "find_protocol_worlds", refuse)
    compile_all()
    monkeypatch.setattr(protocols, "_hash_folder", lambda: "changed")
    with pytest.raises(AssertionError, match="a compiler was started"):
        compile_all()


def test_the_world_stands_where_a_protocol_cannot_be_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise EmbeddedError("no network")

    monkeypatch.setattr(protocols, "compile_all", fail)
    command.prepare(argparse.Namespace(force=False, protocols=False))
    assert "not compiled" not in capsys.readouterr().err
    command.prepare(argparse.Namespace(force=False, protocols=True))
    assert "not compiled now: no network" in capsys.readouterr().err
