"""Names that say nothing, files that hold too much, and the layout of the checkout."""

from __future__ import annotations

from pathlib import PurePosixPath

from tests.architecture.sources import ROOT, list_tracked

_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "service", "handler", "handlers"}
_MOST_LINES = 400
_LONGER: dict[str, str] = {
    "permits_app/errors.py": "one list of the codes that an agent can meet here, to be read as one",
    "permits_app/admin/ledgers.py": "one page for each row of the ledgers, in the order in which a permit writes them",
    "tests/permits_app/reviewers/test_safety_guardian.py": "one veto after the other, each on the plan of one swap",
    "tools_app/chain/abi.py": "the one place where bytes and values meet, both ways",
    "permits_app/relayer.py": "one key's life: what it may send, what it sent, and what became of it",
    "permits_app/safety/hooks/simulator.py": "one judgement after the other about the same run, in their order",
}
_LAYOUT = {
    "manage.py", "requirements.txt", "requirements-turbo.txt", "constraints.txt", "pyproject.toml", "Makefile",
    "compose.yaml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore", ".env.example",
    ".ci", ".github", ".pre-commit-config.yaml",
    "golem_project", "tools_app", "archetypes_app", "permits_app", "memory_app",
    "templates", "tests", "docs", "contracts",
}  # fmt: skip
_REQUIRED = {
    "manage.py", "requirements.txt", "golem_project", "tools_app", "archetypes_app", "permits_app", "memory_app",
    "templates", "tests", "README.md",
}  # fmt: skip


def test_no_module_has_a_name_that_says_nothing() -> None:
    found = {
        path
        for path in list_tracked()
        if path.endswith(".py") and {*PurePosixPath(path).parent.parts, PurePosixPath(path).stem} & _SAY_NOTHING
    }
    assert found == set()


def test_long_files_are_listed_with_a_reason() -> None:
    long = {
        path
        for path in list_tracked()
        if path.endswith(".py")
        and "/migrations/" not in path
        and len((ROOT / path).read_text().splitlines()) > _MOST_LINES
    }
    assert long <= set(_LONGER)
    assert all(len(reason) > 20 for reason in _LONGER.values())


def test_the_exemptions_of_long_files_name_files_that_exist() -> None:
    assert set(_LONGER) <= set(list_tracked())


def test_the_top_of_the_checkout_is_as_decided() -> None:
    top = {path.split("/")[0] for path in list_tracked()}
    assert top <= _LAYOUT
    assert top >= _REQUIRED
