"""Two editors at once: the second is told, and nothing is lost. Every edit carries the version it was opened with."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import F

from archetypes_app.errors import EditConflict
from archetypes_app.models import Archetype, Golem, ToolProfile

Row = TypeVar("Row", Archetype, ToolProfile, Golem)


def check_unchanged(row: Row, *, version: int) -> Row:
    """Lock `row` until the transaction ends and make sure it is still at `version`. Returns the locked row.

    Call inside the transaction that saves. Raises EditConflict (409) with the version found.
    """
    locked = type(row)._default_manager.select_for_update(no_key=True, of=("self",)).filter(pk=row.pk).first()
    if locked is None:
        raise EditConflict(f"{row} was deleted while it was being edited", version=version, found=None)
    if locked.version != version:
        raise EditConflict(
            f"{row} was saved by somebody else since this page was opened; nothing was written",
            version=version,
            found=locked.version,
            changed_at=locked.updated_at.isoformat(),
        )
    return locked


def bump_version(row: Row) -> int:
    """Note one edit of `row`, whatever part of it was edited (its overrides count). Returns the new version."""
    type(row)._default_manager.filter(pk=row.pk).update(version=F("version") + 1)
    row.refresh_from_db(fields=["version"])
    return row.version
