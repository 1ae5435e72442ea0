"""Find what a golem's own documents say: sections of PLAYBOOK and STRATEGY, ranked by PostgreSQL full text.

The caller adds active state and market reads.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import connection

from memory_app.actions.query_grimoire import check_question
from memory_app.directive_text import Section, parse_sections
from memory_app.models import Directive
from memory_app.models.directive import Document
from memory_app.selectors import get_directive
from tools_app.core.json_types import JsonObject

_RANK_TEXTS = """
    SELECT place - 1,
           ts_rank_cd(setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', body), 'B'),
                      question.words, 1) AS score
      FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS section(title, body, place),
           (SELECT replace(plainto_tsquery('english', %s)::text, ' & ', ' | ')::tsquery AS words) AS question
  ORDER BY score DESC, place
"""


def search_context(
    *,
    golem_id: UUID,
    query: str,
    limit: int = 10,
    now: datetime,
) -> JsonObject:
    """Sections of the newest PLAYBOOK and STRATEGY, best first, at most `limit` (1 to 50); JSON-ready.

    Sections that share no word with `query` follow in document order with score 0, so a short playbook is always
    seen whole. `documents` names the version of each document, None where nothing was written. Raises InvalidParams.
    """
    question, _, asked = check_question(query=query, store="episodes", limit=limit)
    versions: dict[str, int | None] = {}
    sections: list[tuple[Directive, Section]] = []
    for document in (Document.PLAYBOOK, Document.STRATEGY):
        directive = get_directive(golem_id=golem_id, document=document)
        versions[document.value] = directive.version if directive else None
        if directive is not None:
            sections.extend((directive, section) for section in parse_sections(directive.text))
    ranked = _rank(question, [section for _, section in sections]) if sections else []
    return {
        "query": question,
        "as_of": now.isoformat(),
        "documents": versions,
        "sections": [_describe(*sections[place], score) for place, score in ranked[:asked]],
        "sections_searched": len(sections),
    }


def _rank(question: str, sections: list[Section]) -> list[tuple[int, float]]:
    with connection.cursor() as cursor:
        cursor.execute(_RANK_TEXTS, [[s.title for s in sections], [s.text for s in sections], question])
        return [(int(place), float(score)) for place, score in cursor.fetchall()]


def _describe(directive: Directive, section: Section, score: float) -> JsonObject:
    return {
        "document": directive.document,
        "version": directive.version,
        "section": section.title,
        "text": section.text,
        "score": f"{score:.6f}",
    }
