"""Refuses what agents want to spend with API keys where the golem's owner switched that off."""

from __future__ import annotations

from archetypes_app.errors import KeysMayNotSpend
from archetypes_app.models import Golem
from permits_app.models import ActionPermit


def check_keys_may_spend(golem: Golem, permit: ActionPermit) -> None:
    """`golem` is locked by who asks. What moves no money is let through. Raises KeysMayNotSpend."""
    if golem.may_keys_spend or permit.is_local:
        return
    raise KeysMayNotSpend(
        "the owner switched off that agent keys spend: what they preview is judged, and nothing of it is signed. The"
        " owner lets them spend on the golem's page",
        permit_id=str(permit.pk),
    )
