"""Our own Solidity: the committed output is what the committed source compiles to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world import solidity


def test_compiling_again_gives_the_committed_output_byte_for_byte() -> None:
    outputs = solidity.compile_contracts()
    committed = {path.name: path.read_text() for path in solidity.OUTPUT_DIR.glob("*.json")}
    assert outputs.keys() == committed.keys()
    for name, text in outputs.items():
        assert text == committed[name], f"{name} differs from a fresh compilation"


def test_the_committed_output_says_how_it_was_made() -> None:
    for path in solidity.OUTPUT_DIR.glob("*.json"):
        output = json.loads(path.read_text())
        assert output["solc"] == "0.8.30"
        assert output["settings"] == solidity.settings_of(Path(output["source"]).name)
        # It begins by putting something on the stack, in one byte or, with many immutables, in two.
        pushes = ("0x60", "0x61")
        assert output["bytecode"].startswith(pushes) and output["deployedBytecode"].startswith(pushes)
        assert (solidity.OUTPUT_DIR.parents[1] / output["source"]).exists()
    solidity.check_outputs_match_sources()


def test_a_changed_source_is_noticed_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = solidity.read_sources()
    sources["SimulatedFeed.sol"] += "\n// changed\n"
    monkeypatch.setattr(solidity, "read_sources", lambda: sources)
    with pytest.raises(EmbeddedError, match="was not compiled from the source"):
        solidity.check_outputs_match_sources()


def test_a_compiler_error_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "Broken.sol").write_text("pragma solidity 0.8.30; contract Broken { uint x = ; }")
    monkeypatch.setattr(solidity, "SOURCE_DIR", tmp_path)
    with pytest.raises(EmbeddedError, match="does not compile"):
        solidity.compile_contracts()
