"""`manage.py tools` and `manage.py archetypes list`, and the system checks that run at start-up."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from archetypes_app import checks
from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.delegation import Node
from archetypes_app.golem_setup_facts import list_absent_requirements
from archetypes_app.models import Archetype, Golem, ToolOverride
from archetypes_app.toolset import resolve_toolset
from tools_app.toolkit.enums import Requirement
from tools_app.toolkit.registry import REGISTRY


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_every_tool_is_listed_with_a_place_that_exists() -> None:
    rows = json.loads(run("tools", "list", "--json"))
    assert {row["name"] for row in rows} == {tool.name for tool in REGISTRY}
    for row in rows:
        path, line = row["source"].rsplit(":", 1)
        lines = (Path(django_settings.BASE_DIR) / path).read_text().splitlines()
        nearby = "\n".join(lines[int(line) - 1 : int(line) + 25])
        assert f"def {row['name']}(" in nearby, row["source"]


def test_the_list_for_people_names_place_and_count() -> None:
    text = run("tools", "list", "--category", "trading")
    assert re.search(r"uniswap_execute_swap .*tools_app/protocols/uniswap/tools/swaps.py:\d+", text)
    assert re.fullmatch(r"\d+ tools", text.splitlines()[-1])
    with pytest.raises(CommandError, match="no tool is of the category"):
        run("tools", "list", "--category", "nonsense")


def test_show_and_schema_take_aliases_and_answer_near_names() -> None:
    assert "uniswap_get_quote" in run("tools", "show", "get_quote")
    assert json.loads(run("tools", "show", "get_quote", "--json"))["parameters"]["type"] == "object"
    assert json.loads(run("tools", "schema", "uniswap_get_quote")) == REGISTRY.get("uniswap_get_quote").schema
    with pytest.raises(CommandError, match="did you mean"):
        run("tools", "show", "uniswap_get_qote")


@pytest.fixture
def golem(db: None) -> Golem:
    sync_builtins()
    owner = get_user_model().objects.create(username="ana")
    return Golem.objects.create(
        name="Explained", owner=owner, archetype=Archetype.objects.get(name="trade-executor"), address=""
    )


def test_explain_gives_a_reason_for_every_tool_and_names_what_is_missing(golem: Golem) -> None:
    told = json.loads(run("tools", "explain", "Explained", "--json"))
    toolset = resolve_toolset(golem)
    assert {line["name"]: line["in"] for line in told["tools"]} == {
        tool.name: tool.name in toolset for tool in REGISTRY
    }
    assert all(line["reason"] and re.search(r":\d+$", line["source"]) for line in told["tools"])
    assert any("wallet is not set up" in warning for warning in told["warnings"])
    assert told["golem"]["id"] == str(golem.pk)
    assert f"{len(toolset)} of {len(REGISTRY)} tools" in run("tools", "explain", str(golem.pk))
    with pytest.raises(CommandError, match="no such golem"):
        run("tools", "explain", "Nobody")


def test_a_name_two_owners_use_has_to_be_an_id(golem: Golem) -> None:
    other = get_user_model().objects.create(username="ben")
    Golem.objects.create(name="Explained", owner=other, archetype=golem.archetype)
    with pytest.raises(CommandError, match="give its id"):
        run("tools", "explain", "Explained")


def test_all_archetypes_are_listed_with_their_resolved_tool_counts(golem: Golem) -> None:
    rows = {row["name"]: row for row in json.loads(run("archetypes", "list", "--json"))}
    assert len(rows) == 41
    for row in rows.values():
        counts = row["tools"]
        assert counts["total"] == counts["reads"] + counts["writes"] + counts["local_writes"] + counts["privileged"]
        assert counts["total"] == sum(counts["by_category"].values()) > 0
        if row["is_terminal_node"]:
            assert counts["writes"] == counts["privileged"] == 0
    assert rows["golem-instance"]["tools"]["total"] > rows["trade-executor"]["tools"]["total"]
    assert "trade-executor" in run("archetypes", "list")


def test_the_shipped_data_passes_its_check(db: None) -> None:
    assert list(checks.check_builtin_graph(None)) == []


def test_a_broken_shipped_graph_is_an_error_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "read_builtin_nodes", lambda: (Node("a", ("b",)), Node("b", ("a",))))
    (found,) = checks.check_builtin_graph(None)
    assert (found.id, found.is_serious()) == ("golem.E301", True)
    assert "a → b → a" in found.msg


def test_the_stored_graph_is_checked_with_the_database(golem: Golem) -> None:
    assert list(checks.check_stored_graph(None, databases=["default"])) == []
    row = Archetype.objects.get(name="pool-researcher")
    row.delegates_to.add(Archetype.objects.get(name="liquidity-manager"))
    ToolOverride.objects.create(golem=golem, tool_name="no_such_tool", mode="INCLUDE")
    found = list(checks.check_stored_graph(None, databases=["default"]))
    assert {message.id for message in found} == {"golem.E302", "golem.W304"}
    assert any("liquidity-manager → pool-researcher → liquidity-manager" in message.msg for message in found)
    assert list(checks.check_stored_graph(None)) == []


def test_a_database_that_waits_for_its_migrations_is_not_read(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start checks before there are tables: no warning of that, and no error in the database server's log."""

    def read() -> Any:
        raise AssertionError("read before its tables are there")

    monkeypatch.setattr(checks, "find_stored_violations", read)
    recorder = MigrationRecorder(connection)
    newest = max(name for app, name in recorder.applied_migrations() if app == "archetypes_app")
    recorder.record_unapplied("archetypes_app", newest)
    assert list(checks.check_stored_graph(None, databases=["default"])) == []


def test_what_the_server_lacks_is_told_by_name_and_is_no_failure(settings: Any) -> None:
    settings.GOLEM_MEMORY_ENABLED = False
    assert Requirement.MEMORY in list_absent_requirements()
    (message,) = [each for each in checks.check_requirements(None) if each.msg.startswith("memory ")]
    assert "memory_search" in message.msg
    assert not message.is_serious()
    settings.GOLEM_MEMORY_ENABLED = True
    assert Requirement.MEMORY not in list_absent_requirements()
