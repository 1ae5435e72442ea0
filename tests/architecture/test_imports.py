"""The import contracts of the design are all declared, and the tree keeps them."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.architecture.sources import PACKAGES, ROOT, list_sources, parse

_CONTRACTS = {
    "Apps point one way": "layers",
    "Inside tools_app": "layers",
    "Inside permits_app": "layers",
    "Only the admin imports the admin": "protected",
    "No circles between rooms": "acyclic_siblings",
    "Protocols do not know each other": "independence",
    "No protocol outside protocols": "forbidden",
    "Who reads a call's effects does not know what made it": "forbidden",
    "Only who makes a wallet and who executes opens a signer": "protected",
    "wasmtime only in the sandbox": "forbidden",
    "What is read ahead can carry no permit and no capability": "forbidden",
    "Only commit and the executor touch the mint": "protected",
    "Only commit and halt execute": "protected",
    "Rules import no framework": "forbidden",
    "py-evm only in simulation": "forbidden",
    "fastembed only in memory_app.embedding": "forbidden",
    "The agent API stays outside the apps": "forbidden",
    "Tools plan, they do not simulate": "forbidden",
    "The embedded servers know nothing of the product": "forbidden",
}
_MINTERS = {
    "permits_app.actions.commit",
    "permits_app.actions.commit_local_write",
    "permits_app.actions.halt",
    "permits_app.execution",
}


def _read_linter() -> dict[str, object]:
    loaded: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return loaded


def test_every_contract_of_the_design_is_declared() -> None:
    linter = _read_linter()
    declared = {contract["name"]: contract["type"] for contract in linter["contracts"]}  # type: ignore[attr-defined]
    assert declared.items() >= _CONTRACTS.items()
    assert set(linter["root_packages"]) == set(PACKAGES)  # type: ignore[call-overload]


def test_no_contract_excuses_single_imports() -> None:
    contracts = _read_linter()["contracts"]
    assert [c["name"] for c in contracts if c.get("ignore_imports")] == []  # type: ignore[attr-defined]


def test_nobody_but_commit_halt_and_the_executor_may_mint() -> None:
    contracts = {c["name"]: c for c in _read_linter()["contracts"]}  # type: ignore[attr-defined]
    assert set(contracts["Only commit and the executor touch the mint"]["allowed_importers"]) <= _MINTERS


def test_inside_tools_app_every_module_has_a_layer() -> None:
    contracts = {c["name"]: c for c in _read_linter()["contracts"]}  # type: ignore[attr-defined]
    assert contracts["Inside tools_app"]["exhaustive"] is True


def test_the_tree_keeps_its_import_contracts() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    outcome = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    assert outcome.returncode == 0, outcome.stdout[-4000:] + outcome.stderr[-1000:]
    assert " 0 broken" in outcome.stdout


# What Django's documents do not promise: these modules change from one version to the next.
_DJANGOS_OWN = (
    "django.db.models.query",
    "django.db.models.sql",
    "django.db.models.options",
    "django.utils.datastructures",
)


def _list_imports(path: str) -> list[tuple[str, str]]:
    """Module and name of each import of a file."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return found


def test_no_private_name_of_django_is_imported() -> None:
    private = [
        f"{path}: {module} {name}".strip()
        for path in list_sources()
        for module, name in _list_imports(path)
        if module.split(".")[0] == "django"
        and (module.startswith(_DJANGOS_OWN) or any(part.startswith("_") for part in (*module.split("."), name)))
    ]
    assert private == []


# Where a model keeps what was prefetched, and a query its answer.
_DJANGO_KEEPS = ("_prefetched_objects_cache", "_result_cache", "_prefetch_done")


def test_nothing_reaches_into_what_django_keeps() -> None:
    assert [path for path in list_sources() if any(name in (ROOT / path).read_text() for name in _DJANGO_KEEPS)] == []


def test_the_story_of_a_preview_is_told_by_at_most_25_imports() -> None:
    modules = {module for module, _ in _list_imports("permits_app/actions/preview.py")}
    assert len(modules) <= 25
