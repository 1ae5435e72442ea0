"""Owners in a browser without a chain: an account that can log in, golems of rows alone, a second factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import NavSnapshot
from tests import factories
from tests.factories.golems import PASSWORD
from tests.permits_app.approvals.people import give_device
from tools_app.core import clock

USD = 10**6


@dataclass
class House:
    """One owner with a second factor and a golem that has an account, limits and a measured value."""

    owner: Any
    golem: Golem


def make_house(*, name: str = "ana", golem_name: str = "Alpha", worth_usd: int = 29_000) -> House:
    """The rows of it."""
    owner = factories.make_owner(name=name)
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    golem = factories.make_golem(owner=owner, name=golem_name)
    factories.make_wallet(golem=golem)
    factories.make_limits(golem=golem)
    factories.make_cage(golem=golem)
    note_worth(golem, worth_usd)
    return House(owner, golem)


def note_worth(golem: Golem, usd: int) -> None:
    """As a heartbeat keeps it."""
    last = NavSnapshot.objects.filter(golem=golem).count()
    NavSnapshot.objects.create(
        golem=golem, at=clock.now(), chain_id=31337, block_number=1 + last, value_micro_usd=usd * USD
    )
