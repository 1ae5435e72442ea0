"""A row stored by one plain INSERT is the row that the ORM stores, column by column."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, models, transaction

from permits_app.models import ActionPermit, SpendEntry
from tests.live_golem import LiveGolem
from tools_app.core.single_row_sql import insert_row


def columns(row: models.Model) -> dict[str, Any]:
    stored = type(row)._base_manager.get(pk=row.pk)
    skipped = {"id", "created_at", "updated_at"}
    return {f.attname: f.value_from_object(stored) for f in stored._meta.concrete_fields if f.name not in skipped}


def fresh(template: ActionPermit) -> ActionPermit:
    permit = ActionPermit.objects.get(pk=template.pk)
    permit.id, permit._state.adding = uuid4(), True
    return permit


def test_a_permit_and_its_entry_are_stored_as_the_orm_stores_them(live_golem: LiveGolem) -> None:
    template = live_golem.permit(live_golem.preview()["permit_id"])
    by_orm, by_hand = fresh(template), fresh(template)
    by_orm.save(force_insert=True)
    insert_row(by_hand)
    assert columns(by_orm) == columns(by_hand)
    entries = []
    for permit in (by_orm, by_hand):
        entry = SpendEntry.objects.get(permit=template)
        entry.pk, entry.permit, entry._state.adding = None, permit, True
        entries.append(entry)
    entries[0].save(force_insert=True)
    insert_row(entries[1])
    assert entries[1].pk not in (None, entries[0].pk)
    assert not entries[1]._state.adding
    told = [{**columns(entry), "permit_id": None} for entry in entries]
    assert told[0] == told[1]


def test_what_the_database_refuses_is_refused_here_too(live_golem: LiveGolem) -> None:
    permit = fresh(live_golem.permit(live_golem.preview()["permit_id"]))
    permit.value_micro_usd = -1
    with pytest.raises(IntegrityError, match="permit_value_not_negative"), transaction.atomic():
        insert_row(permit)
