"""Models and migrations say the same: a field changed without a migration would be one thing here and another there."""

from __future__ import annotations

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_field_changed_without_a_migration() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, interactive=False)
