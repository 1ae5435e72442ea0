"""A stranger's rows are there when a quick test begins, the same each time."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import transaction

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, SpendEntry
from tests import among_others, rows_of_others
from tests.admin.rows import MAKERS
from tests.admin.rows_beside import BESIDE
from tests.architecture.sources import ROOT
from tests.rows_of_others import insert_rows_of_others

pytestmark = pytest.mark.django_db


def count_rows() -> dict[str, int]:
    """Model -> how many rows, of those that are made."""
    return {label: apps.get_model(label)._base_manager.count() for label in sorted(MAKERS.keys() | BESIDE.keys())}


@pytest.mark.locks_at_will
def test_the_rows_that_are_inserted_again_are_those_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_of_others, "_kept", [])
    found = []
    for _ in range(3):
        with transaction.atomic():
            insert_rows_of_others()
            found.append((count_rows(), list(Golem.objects.order_by("name").values())))
            transaction.set_rollback(True)
    assert found[0] == found[1] == found[2]
    assert min(found[0][0].values()) >= 1


def test_some_of_them_are_as_they_are_made_and_others_over_and_of_another_chain() -> None:
    insert_rows_of_others()
    assert {"Strange", "Estranged"} == set(Golem.objects.values_list("name", flat=True))
    assert len(set(ActionPermit.objects.values_list("status", flat=True))) > 1
    assert len(set(SpendEntry.objects.values_list("golem_id", flat=True))) == 2
    assert len(set(ActionPermit.objects.values_list("chain_id", flat=True))) == 2


def test_what_is_listed_is_there() -> None:
    for each in among_others.PLACES:
        assert (ROOT / each).exists(), each
    for each in among_others.ALONE:
        file, _, function = each.partition("::")
        assert f"def {function}" in (ROOT / file).read_text(), each
        assert file.startswith(among_others.PLACES), each
