"""Describes a golem's keys without showing one: fingerprints, what they may do, until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Credential:
    """One key. `fingerprint` is the beginning of a SHA-256 and opens nothing; `expires_at` is RFC 3339 text."""

    fingerprint: str
    scopes: tuple[str, ...]
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class Credentials:
    """The keys of one golem that are good now."""

    api_keys: tuple[Credential, ...]
    session_keys: tuple[Credential, ...]


class CredentialBook(Protocol):
    """Tells the credentials of one golem at a time."""

    def __call__(self, *, golem_id: UUID, now: datetime) -> Credentials: ...
