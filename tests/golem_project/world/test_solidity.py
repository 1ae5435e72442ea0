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


def test_a_valuer_of_a_made_up_protocol_is_one_by_what_it_says_of_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sources = solidity.read_sources()
    (tmp_path / "CageTypes.sol").write_text(sources["CageTypes.sol"])
    jar = sources["ShareValuer.sol"].replace("contract ShareValuer is IValuer", "contract MadeUpJarValuer is IValuer")
    (tmp_path / "MadeUpJarValuer.sol").write_text(jar)
    (tmp_path / "MadeUpJar.sol").write_text(jar.replace("MadeUpJarValuer is IValuer", "MadeUpJar"))
    monkeypatch.setattr(solidity, "SOURCE_DIR", tmp_path)
    assert "viaIR" not in solidity.settings_of("MadeUpJar.sol")
    [told] = [json.loads(text) for text in solidity.compile_contracts({"MadeUpJarValuer.sol"}).values()]
    assert told["settings"]["viaIR"] is True and len(told["immutables"]) > 3


def test_no_valuer_is_named_by_the_product_outside_its_folder() -> None:
    valuers = {name for text in solidity.read_sources().values() for name in solidity.VALUER.findall(text)}
    assert len(valuers) >= 10
    root = solidity.SOURCE_DIR.parents[1]
    for app in ("golem_project", "permits_app", "archetypes_app", "memory_app"):
        for path in (root / app).rglob("*.py"):
            assert not {each for each in valuers if each in path.read_text()}, f"{path} names a valuer"
