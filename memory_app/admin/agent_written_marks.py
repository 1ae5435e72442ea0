"""Marks memories that are in the words of an agent or a model."""

from __future__ import annotations

from django.utils.safestring import SafeString

from memory_app.models import Directive
from memory_app.models.provenance import Source
from tools_app.pages.html import show_unchecked

BY_AGENT = frozenset({Source.AGENT.value, Source.IMPORT.value})


def show_words(text: str | SafeString, source: str) -> str | SafeString:
    """`text` as it is, or with the mark where an agent or an import wrote it."""
    return show_unchecked(text) if text and source in BY_AGENT else text


def is_by_agent(version: Directive) -> bool:
    """Whether neither an owner nor the runtime wrote this version."""
    return not str(version.actor).startswith(("owner:", "system:"))
