"""A tool's version stands for its parameters: they do not change without it, and nothing of a tool changes unseen."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from golem_project.management.commands import snapshots
from golem_project.pi.manifest import hash_schema
from golem_project.pi.schema_lines import (
    describe_document,
    describe_tool,
    find_shared,
    leave_out,
    list_types,
    put_back,
    render_lines,
    tell_differences,
)
from tools_app.toolkit.registry import REGISTRY

SWAP: Final = "uniswap_execute_swap"
FILE: Final = "tools/uniswap.json"
Entry = dict[str, Any]


def now() -> Entry:
    return {tool.name: json.loads(json.dumps(describe_tool(tool))) for tool in REGISTRY}


def test_no_tools_parameters_changed_without_a_higher_version() -> None:
    stored = snapshots.read_stored_tools()
    assert len(stored) == len(REGISTRY)
    assert snapshots.find_unraised(stored=stored, now=now()) == []


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The snapshots as they are now, in a folder where a test may write."""
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    monkeypatch.setattr(snapshots, "BASE_DIR", tmp_path)
    call_command("snapshots", "--write", verbosity=0)
    return tmp_path


def store(folder: Path, name: str, change: Callable[[Entry], object]) -> None:
    """Write the file as it would have been before a change of the code."""
    entries = snapshots.read_stored(name)
    change(entries)
    (folder / name).write_text(render_lines(entries))


def lose_a_parameter(tool: Entry) -> None:
    tool["parameters"]["a_lost_one"] = {"type": "string"}


def gain_a_parameter(tool: Entry) -> None:
    tool["parameters"].pop("slippage_bps")


def change_a_type(tool: Entry) -> None:
    tool["parameters"]["amount"] = {"type": "integer"}


def move_a_bound(tool: Entry) -> None:
    tool["parameters"]["chain_id"]["anyOf"][0]["minimum"] = 7


def need_one_more(tool: Entry) -> None:
    tool["required"] = tool["required"][1:]


def take_what_is_unknown(tool: Entry) -> None:
    tool["rest_of_schema"]["additionalProperties"] = True


CHANGES: Final = (
    lose_a_parameter,
    gain_a_parameter,
    change_a_type,
    move_a_bound,
    need_one_more,
    take_what_is_unknown,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changed_parameters_under_the_same_version_are_neither_written_nor_passed(
    written: Path, change: Callable[[Entry], None]
) -> None:
    store(written, FILE, lambda tools: change(tools[SWAP]))
    before = (written / FILE).read_text()
    for option in ("--write", "--check"):
        with pytest.raises(CommandError, match=f"{SWAP} changed and their schema_version did not rise"):
            call_command("snapshots", option)
    assert (written / FILE).read_text() == before


@pytest.mark.parametrize("change", [lose_a_parameter, need_one_more], ids=lambda change: change.__name__)
def test_a_higher_version_that_breaks_calls_is_refused_without_the_shape_they_had(
    written: Path, change: Callable[[Entry], None]
) -> None:
    def before(tools: Entry) -> None:
        change(tools[SWAP])
        tools[SWAP]["schema_version"] -= 1

    store(written, FILE, before)
    with pytest.raises(CommandError, match=f"calls of {SWAP} that were valid no longer are"):
        call_command("snapshots")


def test_a_changed_type_is_told_with_the_parameter_and_what_it_was(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def before(tools: Entry) -> None:
        change_a_type(tools[SWAP])
        tools[SWAP]["schema_version"] -= 1

    store(written, FILE, before)
    with pytest.raises(CommandError, match=r"out of date: tools/uniswap\.json"):
        call_command("snapshots", "--check")
    told = capsys.readouterr().err
    assert f'{FILE}: {SWAP}.parameters.amount.type was "integer" and is "string"' in told
    assert f"{FILE}: {SWAP}.schema_version was" in told


@pytest.mark.parametrize(
    ("member", "value"),
    [("words", "0" * 16), ("risk_layer", 9), ("action_class", "READ"), ("chains", [1]), ("requires", [])],
)
def test_another_member_of_a_tool_does_not_change_unseen(
    written: Path, capsys: pytest.CaptureFixture[str], member: str, value: Any
) -> None:
    store(written, FILE, lambda tools: tools[SWAP].update({member: value}))
    with pytest.raises(CommandError, match=r"out of date: tools/uniswap\.json"):
        call_command("snapshots", "--check")
    assert f"{FILE}: {SWAP}.{member} was " in capsys.readouterr().err


def test_a_parameter_that_tools_share_stands_once_and_does_not_change_unseen(written: Path) -> None:
    shared = json.loads((written / snapshots.SHARED).read_text())
    entry = json.loads((written / FILE).read_text())[SWAP]
    [key] = [each for each in entry["shares"] if each.startswith("chain_id:")]
    assert "chain_id" not in entry["parameters"]
    for change in (lambda: move_a_bound({"parameters": {"chain_id": shared[key]}}), lambda: shared.pop(key)):
        change()
        (written / snapshots.SHARED).write_text(json.dumps(shared))
        with pytest.raises(CommandError, match="schema_version did not rise|cannot be read"):
            call_command("snapshots", "--check")


def test_a_parameter_of_four_tools_stands_once_and_of_three_with_each() -> None:
    four, three = {"type": "string"}, {"type": "integer"}
    tools = [{"parameters": {"a": four, **({"b": three} if number else {})}} for number in range(4)]
    shared = find_shared(tools)
    assert list(shared.values()) == [four]
    assert [put_back(leave_out(tool, shared), shared) for tool in tools] == tools
    assert leave_out({"parameters": {"a": three}}, shared)["parameters"] == {"a": three}


def test_a_tool_that_is_gone_and_one_that_is_new_are_told(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(written, FILE, lambda tools: tools.update(uniswap_of_old=tools.pop(SWAP)))
    with pytest.raises(CommandError, match=r"out of date: tools/uniswap\.json"):
        call_command("snapshots", "--check")
    told = capsys.readouterr().err
    assert f"{FILE}: {SWAP} is new" in told and f"{FILE}: uniswap_of_old is gone" in told


def test_a_file_that_nobody_can_read_is_named_and_left(written: Path) -> None:
    (written / FILE).write_text("<<<<<<< ours\n")
    with pytest.raises(CommandError, match=r"tools/uniswap\.json cannot be read\. Fix: "):
        call_command("snapshots", "--write")
    assert (written / FILE).read_text() == "<<<<<<< ours\n"


def find_difference(before: Any, after: Any) -> list[str]:
    return list(tell_differences(before, after))


def test_every_kind_of_change_of_an_endpoint_is_told_with_its_name() -> None:
    document: Any = snapshots.SchemaGenerator().get_schema(request=None, public=True)
    plain = json.loads(json.dumps(document))
    path = "/api/v1/pi/commit_action"

    def change(what: Callable[[Any], object]) -> list[str]:
        other = copy.deepcopy(plain)
        what(other)
        return find_difference(describe_document(plain), describe_document(other))

    schemas = "components", "schemas"
    assert change(lambda each: None) == []
    lost = change(lambda each: each[schemas[0]][schemas[1]]["CommitActionInput"]["properties"].pop("permit_id"))
    assert any(line.startswith(f"POST {path}.digest") for line in lost)
    assert any(line.startswith("schema CommitActionInput.holds was") for line in lost)
    typed = change(
        lambda each: each[schemas[0]][schemas[1]]["CommitActionInput"]["properties"].update(
            permit_id={"type": "integer"}
        )
    )
    assert any("permit_id:integer" in line for line in typed)
    asked = change(lambda each: each["paths"][path]["post"]["parameters"].pop())
    assert any(line.startswith(f"POST {path}.asks was") for line in asked)
    answered = change(lambda each: each["paths"][path]["post"]["responses"].pop("202"))
    assert any(line.startswith(f"POST {path}.answers was") for line in answered)
    assert change(lambda each: each["paths"].pop(path))[0].startswith(f"POST {path} is gone")
    # The body of one tool alone: the endpoint that takes it moves, and says no more, for the tool's own line does.
    body = change(
        lambda each: each[schemas[0]][schemas[1]]["UniswapExecuteSwap"]["properties"].update(more={"type": "string"})
    )
    assert [line.partition(".digest")[0] for line in body] == ["POST /api/v1/pi/preview_action"]


def test_types_are_told_in_one_line_with_a_mark_on_what_is_needed() -> None:
    schema = {
        "properties": {
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "a": {"type": "string"},
            "c": {"type": "array", "items": {"$ref": "#/components/schemas/Call"}},
            "d": {"enum": ["x", "y"]},
        },
        "required": ["a"],
    }
    assert list_types(schema) == "a:string! b:integer|null c:[Call] d:(x,y)"


def test_the_stored_snapshots_are_about_ten_lines_a_tool_at_most() -> None:
    lines = sum(len(path.read_text().splitlines()) for path in snapshots.FOLDER.glob("**/*.json"))
    assert lines < 10 * len(REGISTRY)


def test_a_change_needs_a_higher_version_and_a_new_tool_none() -> None:
    stored = now()
    changed = copy.deepcopy(stored)
    changed[SWAP]["parameters"]["one_more"] = {}
    assert snapshots.find_unraised(stored=stored, now=changed) == [SWAP]
    changed[SWAP]["schema_version"] += 1
    assert snapshots.find_unraised(stored=stored, now=changed) == []
    changed["a_new_tool"] = {"schema_version": 1, "parameters": {}, "required": [], "rest_of_schema": {}}
    assert snapshots.find_unraised(stored=stored, now=changed) == []


def test_what_a_parameter_is_called_in_words_is_no_change_and_a_parameter_called_title_is() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"amount": {"type": "string", "description": "One."}}}
    reworded = {"type": "object", "properties": {"amount": {"type": "string", "description": "Another."}}}
    assert hash_schema(schema) == hash_schema(reworded)
    titled = {"type": "object", "properties": {**schema["properties"], "title": {"type": "string"}}}
    assert hash_schema(schema) != hash_schema(titled)
    narrower = {"type": "object", "properties": {"amount": {"type": "string", "pattern": "^1$"}}}
    assert hash_schema(schema) != hash_schema(narrower)


def test_the_committed_snapshots_are_what_the_code_says() -> None:
    call_command("snapshots", "--check")


def test_the_snapshots_are_not_written_over_a_version_that_did_not_rise(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(iter(REGISTRY)).name
    stored = {name: {"schema_version": 1_000, "parameters": {"gone": {}}, "required": [], "rest_of_schema": {}}}
    (tmp_path / snapshots.TOOLS).mkdir()
    file = tmp_path / snapshots.TOOLS / "any.json"
    file.write_text(json.dumps(stored))
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    with pytest.raises(CommandError, match=name):
        call_command("snapshots")
    assert json.loads(file.read_text()) == stored
