"""Write a section of a golem's PLAYBOOK (or, for its owner, STRATEGY) as a new version with its diff.

Needs no permit; it is audited. Nothing it says can change a limit: no code reads rules from it.
"""

from __future__ import annotations

import re
from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.directive_text import Section, diff_texts, parse_sections, render_sections, replace_section
from memory_app.errors import DirectiveTooLarge, MemoryOwnerUnknown
from memory_app.models import Directive
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from memory_app.text_cleaning import clean_text
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import InvalidParams
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

LONGEST_TITLE = 80
LONGEST_SECTION = 8_000
LONGEST_DOCUMENT = 64_000
MOST_SECTIONS = 64
LONGEST_REASON = 2_000
_SECTION_BREAK = re.compile(r"^#{1,2}\s", re.MULTILINE)


@retry_aborted
def update_directive(
    *,
    golem_id: UUID,
    section: str,
    change: str,
    reason: str,
    actor: str,
    now: datetime,
    document: Document = Document.PLAYBOOK,
) -> JsonObject:
    """Put `change` in the place of the text of `section` (added when it is new); answers version and unified diff.

    An equal text makes no new version and answers `changed: false`. Locks the golem's row for one short
    transaction; emits grimoire:directive. Raises InvalidParams, DirectiveTooLarge, MemoryOwnerUnknown.
    """
    wanted, cleaned_reason = _check_input(section, change, reason)
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        latest = get_directive(golem_id=golem_id, document=document)
        before = latest.text if latest else ""
        sections = replace_section(parse_sections(before), wanted)
        after = render_sections(sections)
        if latest is not None and after == before:
            return _answer(latest, changed=False)
        check_document(sections, after)
        version = (latest.version if latest else 0) + 1
        fresh = Directive.objects.create(
            golem_id=golem_id,
            document=document,
            version=version,
            section=next(s.title for s in sections if s.title.casefold() == wanted.title.casefold()),
            text=after,
            diff=diff_texts(before, after, name=document.value, version=version),
            reason=cleaned_reason,
            actor=actor,
            created_at=now,
        )
        announce_directive(fresh, now)
    return _answer(fresh, changed=True)


def _check_input(section: str, change: str, reason: str) -> tuple[Section, str]:
    title = " ".join(clean_text(section).split())
    text = clean_text(change.replace("\r\n", "\n").replace("\r", "\n")).strip()
    why = clean_text(reason).strip()
    problems: dict[str, str] = {}
    if not title or len(title) > LONGEST_TITLE or title.startswith("#"):
        problems["section"] = f"a heading of 1 to {LONGEST_TITLE} characters, without #"
    if not text:
        problems["change"] = "the new text of the section"
    elif _SECTION_BREAK.search(text):
        problems["change"] = "headings inside a section start with ###; # and ## begin sections"
    if not why or len(why) > LONGEST_REASON:
        problems["reason"] = f"why, in 1 to {LONGEST_REASON} characters"
    if problems:
        raise InvalidParams("; ".join(f"{name}: {text}" for name, text in problems.items()), fields=problems)
    if len(text) > LONGEST_SECTION:
        raise DirectiveTooLarge(
            f"a section has at most {LONGEST_SECTION} characters, this one has {len(text)}",
            observed_characters=len(text),
            limit_characters=LONGEST_SECTION,
        )
    return Section(title, "\n".join(text.splitlines()).strip("\n")), why


def check_document(sections: tuple[Section, ...], text: str) -> None:
    """Raises DirectiveTooLarge for too many sections or characters."""
    if len(sections) > MOST_SECTIONS:
        raise DirectiveTooLarge(
            f"a document has at most {MOST_SECTIONS} sections; rewrite one of them",
            observed_sections=len(sections),
            limit_sections=MOST_SECTIONS,
        )
    if len(text) > LONGEST_DOCUMENT:
        raise DirectiveTooLarge(
            f"a document has at most {LONGEST_DOCUMENT} characters, this would be {len(text)}; shorten a section",
            observed_characters=len(text),
            limit_characters=LONGEST_DOCUMENT,
        )


def announce_directive(directive: Directive, now: datetime, *, restored: int | None = None) -> None:
    """Audit entry and grimoire:directive of a new version; `restored` names the version it goes back to."""
    facts = {
        "document": directive.document,
        "version": directive.version,
        "section": directive.section,
        "text_hash": hash_canonical(directive.text),
    }
    audit_log.append(
        golem_id=directive.golem_id,
        event="DirectiveUpdated",
        actor=directive.actor,
        data={**facts, "version": str(directive.version), "reason": directive.reason},
        now=now,
    )
    payload = facts if restored is None else {**facts, "restored": restored}
    event_bus.emit(golem_id=directive.golem_id, event=Event(EventType.GRIMOIRE_DIRECTIVE, payload), now=now)


def _answer(directive: Directive, *, changed: bool) -> JsonObject:
    return {
        "document": directive.document,
        "section": directive.section,
        "version": directive.version,
        "changed": changed,
        "diff": directive.diff if changed else "",
        "reason": directive.reason,
        "characters": len(directive.text),
        "created_at": directive.created_at.isoformat(),
    }
