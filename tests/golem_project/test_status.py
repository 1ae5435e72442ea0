"""Health, readiness, about, errors, and the API's own documents."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from golem_project import status
from golem_project.management.commands import snapshots
from golem_project.pi.schema_lines import render_lines
from golem_project.status import describe_errors
from tests.evm.world import CHAIN_ID, World
from tools_app.toolkit.registry import REGISTRY, ToolRegistry


def test_the_process_says_that_it_lives_without_asking_anybody() -> None:
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response.headers["Cache-Control"]


def test_readiness_is_a_table_of_checks_without_addresses(local_chain: World, db: None, settings: Any) -> None:
    response = Client().get("/readyz")
    table = response.json()
    assert response.status_code == 200, table
    names = [check["name"] for check in table["checks"]]
    assert names == [
        "database",
        "clock",
        "space",
        "memory",
        "migrations",
        "transactions",
        "broker",
        "chain",
        "chains",
        "registry",
    ]
    assert table["ready"] is True and all(check["ms"] >= 0 for check in table["checks"])
    assert f"chain {CHAIN_ID} at block" in table["checks"][7]["detail"]
    assert "127.0.0.1" not in response.content.decode()


def test_a_chain_without_a_node_is_not_ready(db: None) -> None:
    response = Client().get("/readyz")
    checks = {check["name"]: check for check in response.json()["checks"]}
    assert response.status_code == 503
    assert checks["chain"] == {**checks["chain"], "ok": False, "detail": "CHAIN_NOT_SUPPORTED"}
    # Only what fails has a next step, and every check has one of its own for then.
    assert "GOLEM_RPC_URL_" in checks["chain"]["next"]
    assert [name for name, check in checks.items() if check["ok"] is ("next" in check)] == []
    assert set(checks) == set(status._FIXES)


def test_a_database_that_is_older_than_the_code_is_not_ready(local_chain: World, db: None) -> None:
    MigrationRecorder.Migration.objects.filter(app="archetypes_app").delete()
    response = Client().get("/readyz")
    failed = {check["name"]: check["detail"] for check in response.json()["checks"] if not check["ok"]}
    assert (response.status_code, failed) == (503, {"migrations": "MIGRATIONS_WAITING"})


def test_a_process_without_tools_is_not_ready(local_chain: World, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "REGISTRY", ToolRegistry())
    response = Client().get("/readyz")
    failed = {check["name"]: check["detail"] for check in response.json()["checks"] if not check["ok"]}
    assert (response.status_code, failed) == (503, {"registry": "REGISTRY_NOT_READY"})


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/about", "/errors/"])
def test_status_pages_are_read_only(path: str) -> None:
    assert Client().post(path).status_code == 405


def test_about_counts_the_tools_of_the_registry(local_chain: World) -> None:
    facts = Client().get("/about").json()
    assert facts["tools"]["total"] == len(REGISTRY)
    assert sum(facts["tools"]["by_category"].values()) == sum(facts["tools"]["by_capability"].values()) == len(REGISTRY)
    assert {"chain_id": CHAIN_ID, "name": "Local chain"} in facts["chains"]
    assert "USDC" in [token["symbol"] for token in facts["simulated"]["contracts"]]
    assert any("uniswap" in entry["what"] for entry in facts["licences"])
    assert "/work" not in json.dumps(facts) and "127.0.0.1" not in json.dumps(facts)


def test_about_is_a_page_for_a_browser() -> None:
    response = Client().get("/about", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert response.headers["Content-Type"].startswith("text/html")
    assert f'<td class="number">{len(REGISTRY)}</td>' in response.content.decode()


def test_the_type_of_a_problem_leads_to_its_page() -> None:
    problem = Client().get("/api/v1/nothing").json()
    found = Client().get(problem["type"]).json()["errors"]
    assert [entry["code"] for entry in found] == ["NOT_FOUND"]
    page = Client().get(problem["type"], headers={"Accept": "text/html"})
    assert "NOT_FOUND" in page.content.decode()
    assert Client().get("/errors/no_such_code").status_code == 404


def test_every_error_says_what_to_do_next() -> None:
    entries = describe_errors()
    assert [entry["code"] for entry in entries] == sorted({entry["code"] for entry in entries})
    assert all(entry["next"] and entry["title"] for entry in entries)


def test_the_root_leads_to_the_admin() -> None:
    response = Client().get("/")
    assert (response.status_code, response.headers["Location"]) == (302, "/admin/")


def test_the_schema_is_openapi_3_1_with_a_bearer_scheme_on_every_operation() -> None:
    schema = Client().get("/api/v1/schema", headers={"Accept": "application/vnd.oai.openapi+json"}).json()
    assert schema["openapi"].startswith("3.1")
    assert schema["components"]["securitySchemes"]["golemToken"]["scheme"] == "bearer"
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert len(operations) == 12
    for operation in operations:
        # Events are read by an owner's browser too.
        is_events = operation["operationId"] == "events"
        assert operation["security"] == (
            [{"golemEvents": []}, {"adminSession": []}] if is_events else [{"golemToken": []}]
        )
        assert operation["summary"] and operation["description"]
        answered = operation["responses"]["4XX"]
        if "$ref" in answered:
            answered = schema["components"]["responses"][answered["$ref"].rpartition("/")[2]]
        assert "application/problem+json" in answered["content"]


def test_swagger_ui_is_served_from_here() -> None:
    page = Client().get("/api/v1/docs").content.decode()
    assert "swagger-ui" in page
    assert "https://" not in page.replace("https://127", "")


def test_a_changed_snapshot_is_reported_with_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    monkeypatch.setattr(snapshots, "BASE_DIR", tmp_path)
    call_command("snapshots", "--write", verbosity=0)
    call_command("snapshots", "--check")
    path = tmp_path / "tools" / "uniswap.json"
    path.write_text(path.read_text().replace("uniswap_execute_swap", "uniswap_execute_swop"))
    with pytest.raises(CommandError, match=r"tools/uniswap\.json"):
        call_command("snapshots", "--check")


def test_the_file_of_a_protocol_that_is_gone_is_reported_and_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(snapshots, "FOLDER", tmp_path)
    monkeypatch.setattr(snapshots, "BASE_DIR", tmp_path)
    call_command("snapshots", "--write", verbosity=0)
    left = tmp_path / "tools" / "gone.json"
    left.write_text("{}\n")
    with pytest.raises(CommandError, match=r"tools/gone\.json"):
        call_command("snapshots", "--check")
    call_command("snapshots", "--write", verbosity=0)
    assert not left.exists()
    call_command("snapshots", "--check")


def test_snapshots_are_the_same_every_time_and_name_no_file() -> None:
    one, two = (
        {name: render_lines(content) for name, content in snapshots.build_snapshots().items()} for _ in range(2)
    )
    assert one == two
    shared = {snapshots.MANIFEST, snapshots.DOCUMENT, snapshots.SHARED}
    assert shared | {"tools/aave_v3.json", "tools/erc8004.json", "tools/memory.json"} <= set(one)
    tools = set(one) - shared
    assert all(name.startswith("tools/") for name in tools)
    assert sorted(tool for name in tools for tool in json.loads(one[name])) == sorted(tool.name for tool in REGISTRY)
    of_ours = re.compile(r"\b(?:archetypes|memory|permits|tools)_app/|golem_project/|object at 0x")
    assert not any(of_ours.search(text) or str(settings.BASE_DIR) in text for text in one.values())
