"""The demo's owner: an account in the owners' group whose password is kept for its eyes alone, the same each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from archetypes_app.owner_group import ensure_owner_group
from golem_project.demo.seed import OWNER_NAME, _seed_owner


@pytest.mark.django_db
def test_the_demos_owner_is_an_owner_and_keeps_its_password(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
    group = ensure_owner_group()
    owner, password = _seed_owner()
    assert (owner.username, owner.is_staff, list(owner.groups.all())) == (OWNER_NAME, True, [group])
    assert owner.check_password(password) and len(password) >= 12
    (kept,) = settings.VAR_DIR.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert _seed_owner() == (owner, password)
    kept.unlink()
    again, other = _seed_owner()
    assert again == owner and other != password and again.check_password(other)
