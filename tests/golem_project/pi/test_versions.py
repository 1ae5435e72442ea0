"""A tool's version stands for its parameters: they do not change without it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from golem_project.management.commands import snapshots
from golem_project.pi.manifest import hash_schema
from tools_app.toolkit.registry import REGISTRY


def now() -> dict[str, Any]:
    return {tool.name: snapshots.describe_version(tool) for tool in REGISTRY}


def test_no_tools_parameters_changed_without_a_higher_version() -> None:
    stored = json.loads((snapshots.FOLDER / snapshots.VERSIONS).read_text())
    assert snapshots.find_unraised(stored=stored, now=now()) == []


def test_a_change_needs_a_higher_version_and_a_new_tool_none() -> None:
    stored = now()
    name = next(iter(stored))
    changed = copy.deepcopy(stored)
    changed[name]["schema_hash"] = "0x" + "1" * 64
    assert snapshots.find_unraised(stored=stored, now=changed) == [name]
    changed[name]["schema_version"] += 1
    assert snapshots.find_unraised(stored=stored, now=changed) == []
    changed["a_new_tool"] = {"schema_version": 1, "schema_hash": "0x"}
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
    stored = {name: {"schema_version": 1_000, "schema_hash": "0x" + "1" * 64}}
    (tmp_path / snapshots.VERSIONS).write_text(json.dumps(stored))
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    with pytest.raises(CommandError, match=name):
        call_command("snapshots")
    assert json.loads((tmp_path / snapshots.VERSIONS).read_text()) == stored
