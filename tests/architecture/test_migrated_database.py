"""The database kept from run to run is made anew whenever what made it changes."""

from __future__ import annotations

import re

from tests.migrated_database import _PRODUCT_FILES, CHECKOUT

_OURS = re.compile(
    r"^(?:from|import) ((?:tools|permits|archetypes|memory)_app[\w.]*|golem_project[\w.]*)", re.MULTILINE
)


def test_the_digest_holds_every_file_of_ours_that_a_migration_imports() -> None:
    migrations = [path for path in CHECKOUT.glob("*_app/migrations/*.py") if ".venv" not in path.parts]
    assert len(migrations) > 20
    imported = {name.replace(".", "/") + ".py" for path in migrations for name in _OURS.findall(path.read_text())}
    assert imported == set(_PRODUCT_FILES)
