"""Tells whether a golem is still being set up: no agent had a key of it and no permit was opened."""

from __future__ import annotations

from archetypes_app.models import ApiKey, Golem
from permits_app.models import ActionPermit


def is_in_setup(golem: Golem) -> bool:
    """Until its first key a golem's policy is edited directly: there is nobody whom loosening it would let loose."""
    return not (ApiKey.objects.filter(golem=golem).exists() or ActionPermit.objects.filter(golem=golem).exists())
