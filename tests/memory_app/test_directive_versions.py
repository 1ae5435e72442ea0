"""PLAYBOOK and STRATEGY: versions with diffs, caps, concurrency, and finding a section again."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from memory_app.actions.search_context import search_context
from memory_app.actions.update_directive import update_directive
from memory_app.directive_text import Section, parse_sections, render_sections, replace_section
from memory_app.errors import DirectiveTooLarge, MemoryOwnerUnknown
from memory_app.models import Directive
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from tests.memory_app.factories import NOW, make_golem
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry, OutboxEvent


def write(golem: Any, section: str, change: str, **given: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"reason": "learned from a swap", "actor": "key:golem_abc", "now": NOW}
    return update_directive(golem_id=golem.pk, section=section, change=change, **(facts | given))


@pytest.mark.django_db
def test_a_change_makes_a_new_version_with_its_unified_diff() -> None:
    golem = make_golem()
    first = write(golem, "Swaps", "Prefer the 0.05% pool.\nAsk for a quote first.")
    second = write(golem, "swaps", "Prefer the 0.3% pool.\nAsk for a quote first.")
    assert (first["version"], second["version"], second["section"]) == (1, 2, "Swaps")
    assert "--- PLAYBOOK v1\n+++ PLAYBOOK v2" in second["diff"]
    assert "-Prefer the 0.05% pool.\n+Prefer the 0.3% pool.\n Ask for a quote first." in second["diff"]
    latest = get_directive(golem_id=golem.pk)
    assert latest is not None
    assert latest.text == "## Swaps\n\nPrefer the 0.3% pool.\nAsk for a quote first.\n"


@pytest.mark.django_db
def test_an_equal_text_makes_no_version() -> None:
    golem = make_golem()
    write(golem, "Swaps", "Prefer the 0.05% pool.")
    again = write(golem, "Swaps", "  Prefer the 0.05% pool.\n\n")
    assert (again["version"], again["changed"], again["diff"]) == (1, False, "")
    assert Directive.objects.filter(golem=golem).count() == 1


@pytest.mark.django_db
def test_other_sections_are_left_byte_for_byte() -> None:
    golem = make_golem()
    write(golem, "Swaps", "One.\n\n\nTwo.\n### Inside\n- a\n- b")
    write(golem, "Liquidity", "Wide ranges.")
    before = parse_sections(Directive.objects.get(golem=golem, version=2).text)[0]
    write(golem, "Liquidity", "Narrow ranges.")
    after = parse_sections(Directive.objects.get(golem=golem, version=3).text)[0]
    assert after == before == Section("Swaps", "One.\n\n\nTwo.\n### Inside\n- a\n- b")


@pytest.mark.django_db
def test_a_change_is_audited_and_announced_with_who_and_why() -> None:
    golem = make_golem()
    write(golem, "Swaps", "Prefer the 0.05% pool.", reason="the last three were cheaper there")
    entry = AuditEntry.objects.get(golem_id=golem.pk, event="DirectiveUpdated")
    assert entry.actor == "key:golem_abc"
    assert entry.data["reason"] == "the last three were cheaper there"
    event = OutboxEvent.objects.get(golem_id=golem.pk, type="grimoire:directive")
    assert event.payload["version"] == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ({"section": ""}, "section"),
        ({"section": "x" * 81}, "section"),
        ({"section": "# Swaps"}, "section"),
        ({"change": " \n "}, "change"),
        ({"change": "text\n## Another section\ntext"}, "change"),
        ({"change": "# Title"}, "change"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 2_001}, "reason"),
    ],
)
def test_a_malformed_change_names_its_bad_field(broken: dict[str, str], field: str) -> None:
    golem = make_golem()
    with pytest.raises(InvalidParams) as caught:
        write(golem, **({"section": "Swaps", "change": "text", "reason": "why"} | broken))
    assert field in caught.value.data["fields"]
    assert not Directive.objects.filter(golem=golem).exists()


@pytest.mark.django_db
def test_sections_and_documents_have_a_largest_size() -> None:
    golem = make_golem()
    with pytest.raises(DirectiveTooLarge):
        write(golem, "Swaps", "x" * 8_001)
    for number in range(7):
        write(golem, f"Part {number}", "x" * 8_000)
    with pytest.raises(DirectiveTooLarge) as caught:
        write(golem, "Part 8", "x" * 8_000)
    assert caught.value.data["limit_characters"] == 64_000


@pytest.mark.django_db
def test_an_unknown_golem_has_no_playbook() -> None:
    with pytest.raises(MemoryOwnerUnknown):
        update_directive(
            golem_id=uuid.uuid4(), section="Swaps", change="text", reason="why", actor="key:golem_abc", now=NOW
        )


@pytest.mark.django_db(transaction=True)
def test_changes_at_the_same_time_become_versions_one_after_the_other() -> None:
    golem = make_golem()
    barrier = threading.Barrier(6)

    def change(number: int) -> None:
        barrier.wait(timeout=30)
        try:
            write(golem, f"Section {number}", f"text {number}")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=change, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    versions = Directive.objects.filter(golem=golem).order_by("version")
    assert [directive.version for directive in versions] == [1, 2, 3, 4, 5, 6]
    assert len(parse_sections(versions[5].text)) == 6


@pytest.mark.django_db
def test_context_finds_the_section_a_question_is_about_in_both_documents() -> None:
    golem = make_golem()
    write(golem, "Swaps", "Prefer the deep pool with the low fee.")
    write(golem, "Liquidity", "Use wide ranges and harvest weekly.")
    write(golem, "Goal", "Grow the USDC balance and never trade memecoins.", document=Document.STRATEGY)
    found = search_context(golem_id=golem.pk, query="when do I harvest my ranges?", limit=2, now=NOW)
    assert found["documents"] == {"PLAYBOOK": 2, "STRATEGY": 1}
    assert found["sections"][0]["section"] == "Liquidity"
    assert float(found["sections"][0]["score"]) > 0
    assert len(found["sections"]) == 2
    goal = search_context(golem_id=golem.pk, query="memecoin", limit=1, now=NOW)["sections"][0]
    assert (goal["document"], goal["section"]) == ("STRATEGY", "Goal")


@pytest.mark.django_db
def test_context_of_a_golem_is_its_own() -> None:
    golem = make_golem()
    write(golem, "Swaps", "Prefer the deep pool.")
    found = search_context(golem_id=make_golem().pk, query="deep pool", limit=5, now=NOW)
    assert found["sections"] == []
    assert found["documents"] == {"PLAYBOOK": None, "STRATEGY": None}


LINE = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30).filter(
    lambda line: not line.startswith("#")
)
BODY = st.lists(LINE, min_size=1, max_size=6).map(lambda lines: "\n".join(lines).strip("\n"))
TITLE = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=20)
SECTIONS = st.lists(st.builds(Section, TITLE, BODY), max_size=6)


@given(SECTIONS)
def test_a_document_is_read_back_as_it_was_written(sections: list[Section]) -> None:
    assert parse_sections(render_sections(sections)) == tuple(sections)


@given(SECTIONS, TITLE, BODY)
def test_replacing_a_section_changes_no_other(sections: list[Section], title: str, body: str) -> None:
    after = replace_section(sections, Section(title, body))
    others = [s for s in sections if s.title.casefold() != title.casefold()]
    assert [s for s in after if s.title.casefold() != title.casefold()] == others
    assert any(s.title.casefold() == title.casefold() and s.text == body for s in after)
