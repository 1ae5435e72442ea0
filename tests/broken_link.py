"""Finds where an audit chain that a test holds in its hands is broken."""

from __future__ import annotations

from collections.abc import Iterable

from tools_app.core.audit_log import BrokenLink, LinkCheck
from tools_app.core.models import AuditEntry


def find_broken_link(entries: Iterable[AuditEntry]) -> BrokenLink | None:
    """The first entry, in order of seq, that breaks the chain; None when it holds."""
    check = LinkCheck()
    for entry in entries:
        broken = check.add(entry)
        if broken is not None:
            return broken
    return None
