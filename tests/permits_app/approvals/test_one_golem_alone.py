"""What owners decide of one golem is written to that golem alone, though another of theirs looks just like it."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.approvals.operations.go_live import GoLive, set_live
from permits_app.approvals.operations.owners import ChangeOwners
from permits_app.approvals.operations.phase import ResetPhase
from tests import factories
from tools_app.core import clock

pytestmark = pytest.mark.django_db


def look(golem: Golem) -> tuple[dict[str, Any], list[str]]:
    """Its whole row, and its co-owners."""
    row: dict[str, Any] = dict(Golem.objects.filter(pk=golem.pk).values().get())
    return row, sorted(person.get_username() for person in Golem.objects.get(pk=golem.pk).co_owners.all())


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [(GoLive(), {}), (ChangeOwners(), {"co_owners": ["ben"]}), (ResetPhase(), {"to": "CAUTIOUS"})],
    ids=["live", "owners", "phase"],
)
def test_a_decision_changes_its_golem_and_no_other_of_the_same_owner(operation: Any, arguments: dict[str, Any]) -> None:
    owner = factories.make_owner(name="ana")
    factories.make_owner(name="ben")
    one, other = factories.make_golem(owner=owner, name="One"), factories.make_golem(owner=owner, name="Other")
    before, others = look(one), look(other)
    change = operation.propose(one, arguments).change
    operation.apply(golem=one, change=change, actor="owner:1", reason="it is time", now=clock.now())
    assert look(one) != before
    assert look(other) == others


def test_back_to_rehearsal_is_written_to_one_golem_alone() -> None:
    owner = factories.make_owner(name="ana")
    one, other = (factories.make_golem(owner=owner, name=name) for name in ("One", "Other"))
    Golem.objects.filter(owner=owner).update(is_live=True)
    set_live(golem=one, is_live=False, actor="owner:1", reason="a pause", now=clock.now())
    assert [Golem.objects.get(pk=each.pk).is_live for each in (one, other)] == [False, True]
