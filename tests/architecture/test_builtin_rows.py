"""A test that makes rows of its own beside the copied built-ins never meets one of their numbers."""

from __future__ import annotations

import pytest
from django.db import connection

from archetypes_app.models import Archetype, ToolOverride, ToolProfile
from tests.builtin_rows import provide_builtins


@pytest.mark.django_db
def test_what_is_made_after_the_copies_has_a_number_of_its_own() -> None:
    provide_builtins()
    for model in (ToolOverride, Archetype, ToolProfile):
        model.objects.all().delete()
    # As in a process whose tests made few rows so far.
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('archetypes_app_archetype', 'id'), 1)")
    provide_builtins()
    numbers = set(Archetype.objects.values_list("pk", flat=True))
    made = Archetype.objects.create(name="made-by-a-test", category=Archetype.objects.first().category)  # type: ignore[union-attr]
    assert made.pk > max(numbers)
