"""Make an older version of a document the newest one again; nothing is lost, because a version is never rewritten.

Also the way a whole text gets in, from a file or the admin.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.actions.update_directive import announce_directive, check_document
from memory_app.directive_text import diff_texts, parse_sections, render_sections
from memory_app.errors import MemoryOwnerUnknown
from memory_app.models import Directive
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from memory_app.text_cleaning import clean_text
from tools_app.core.bounded_parsing import read_toml
from tools_app.core.errors import InvalidParams
from tools_app.core.transaction_retry import retry_aborted

WHOLE = "(whole document)"

_MOST_BYTES = 1_000_000


def restore_directive(*, directive: Directive, reason: str, actor: str, now: datetime) -> Directive:
    """The text of `directive` as the newest version; the newest one unchanged when it says that already."""
    return write_directive(
        golem_id=directive.golem_id,
        document=Document(directive.document),
        text=directive.text,
        reason=reason or f"restored version {directive.version}",
        actor=actor,
        now=now,
        restored=directive.version,
    )


@retry_aborted
def write_directive(
    *,
    golem_id: UUID,
    document: Document,
    text: str,
    reason: str,
    actor: str,
    now: datetime,
    restored: int | None = None,
) -> Directive:
    """A whole document as a new version, with its diff. Markdown is brought into its canonical form first.

    Locks the golem's row; emits grimoire:directive. Raises InvalidParams, DirectiveTooLarge, MemoryOwnerUnknown.
    """
    after = canonical_text(document, text)
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        latest = get_directive(golem_id=golem_id, document=document)
        before = latest.text if latest else ""
        if latest is not None and before == after:
            return latest
        if document is not Document.HEURISTICS:
            check_document(parse_sections(after), after)
        version = (latest.version if latest else 0) + 1
        fresh = Directive.objects.create(
            golem_id=golem_id,
            document=document,
            version=version,
            section=WHOLE,
            text=after,
            diff=diff_texts(before, after, name=document.value, version=version),
            reason=reason[:2_000],
            actor=actor,
            created_at=now,
        )
        announce_directive(fresh, now, restored=restored)
    return fresh


def canonical_text(document: Document, text: str) -> str:
    """The text as it is stored. Raises InvalidParams for a document without sections, or TOML that is none."""
    cleaned = clean_text(text).replace("\r\n", "\n").replace("\r", "\n")
    if document is Document.HEURISTICS:
        try:
            read_toml(cleaned, most_bytes=_MOST_BYTES)
        except ValueError as error:
            raise InvalidParams(f"no valid TOML: {error}", fields={"text": "TOML"}) from None
        return cleaned
    sections = parse_sections(cleaned)
    if not sections:
        raise InvalidParams("a document has sections", fields={"text": "Markdown with `## ` headings"})
    return render_sections(sections)
