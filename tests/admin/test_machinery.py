"""Halts, drills and halt settings in the admin, and the marks that only an operator removes."""

from __future__ import annotations

import pytest

from archetypes_app.models import Golem
from permits_app.models import HaltRecord, HaltSetting, KnownContract
from tests import factories
from tests.admin.rows import page
from tests.admin.test_owner_scope import People
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db
CONTRACT = "0x3798B16bb55a335A00ae957929CC9DD22447a26B"


@pytest.fixture
def people() -> People:
    return People()


def test_an_operator_forgets_a_contract_and_every_golem_that_lists_it_is_told(people: People) -> None:
    mark = KnownContract.objects.create(
        chain_id=31337, address=CONTRACT, code_hash="0x" + "ab" * 32, first_seen_at=clock.now()
    )
    factories.make_allowlist_entry(golem=people.golem_a, address=CONTRACT)
    assert people.a.post(page("permits_app.knowncontract", "delete", mark.pk), {"post": "yes"}).status_code == 403
    assert people.root.post(page("permits_app.knowncontract", "delete", mark.pk), {"post": "yes"}).status_code == 302
    assert not KnownContract.objects.exists()
    told = AuditEntry.objects.filter(event="KnownContractForgotten")
    assert [entry.golem_id for entry in told] == [people.golem_a.pk]
    assert told[0].data["address"] == CONTRACT


def test_a_drill_in_the_admin_tells_the_steps_and_changes_nothing(people: People) -> None:
    body = {"reason": "exercise", "is_drill": "on"}
    answer = people.a.post(page("archetypes_app.golem", "halt", people.golem_a.pk), body, follow=True)
    assert "would be cancelled" in answer.content.decode()
    assert not Golem.objects.get(pk=people.golem_a.pk).is_halted
    assert not HaltRecord.objects.exists()
    assert AuditEntry.objects.filter(event="HaltDrill", golem_id=people.golem_a.pk).count() == 1


def test_the_steps_of_a_halt_are_shown_with_their_facts_and_escaped(people: People) -> None:
    record = factories.make_halt(golem=people.golem_a)
    record.steps = [
        {"step": "positions unwound", "at_ms": 7, "positions": [{"position_id": "12", "outcome": "<b>COMMITTED</b>"}]},
        {"step": "standing allowances revoked", "at_ms": 9, "failed": "RPC_UNAVAILABLE", "detail": "away"},
        {
            "step": "rights taken back",
            "at_ms": 9,
            "rights": [
                {
                    "chain_id": 31337,
                    "protocol": "morpho_blue",
                    "contract": CONTRACT,
                    "taker": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
                    "right": "may act on every position",
                    "outcome": "COMMITTED",
                },
                {"outcome": "NOT_SEARCHED", "detail": "rights before block 9 were not searched for"},
            ],
        },
    ]
    record.save()
    shown = people.a.get(page("permits_app.haltrecord", "change", record.pk)).content.decode()
    rights = ("may act on every position, by ", ": taken back", "rights before block 9 were not searched for")
    for words in (
        "Positions unwound (0.0 s after",
        "position id 12",
        "&lt;b&gt;COMMITTED",
        "is tried again: away",
        *rights,
    ):
        assert words in shown


def test_an_owner_chooses_unwinding_for_their_own_golem_alone(people: People) -> None:
    form = {"golem": str(people.golem_a.pk), "unwind_on_halt": "on"}
    assert people.b.post(page("permits_app.haltsetting", "add"), form).status_code == 200
    assert not HaltSetting.objects.exists()
    assert people.a.post(page("permits_app.haltsetting", "add"), form).status_code == 302
    assert HaltSetting.objects.get().unwind_on_halt
    assert AuditEntry.objects.filter(golem_id=people.golem_a.pk, actor__startswith="owner:").exists()
    confirm = people.a.get(page("archetypes_app.golem", "halt", people.golem_a.pk)).content.decode()
    assert "what it has at protocols is taken back into its wallet" in confirm
