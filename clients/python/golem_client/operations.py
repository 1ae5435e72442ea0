"""Every operation of a golem's HTTP interface. Written by `manage.py clients` from OpenAPI."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote


class Operations(ABC):
    """One method for each operation. An answer is the JSON of the response; a refusal is raised as GolemProblem."""

    @abstractmethod
    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        has_effect: bool = False,
    ) -> dict[str, Any]:
        """Send one request; what is None is left out."""

    def cancel_action(
        self,
        *,
        permit_id: str,
        reason: str,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Give up a permit."""
        return self.send(
            "POST",
            "/api/v1/pi/cancel_action",
            headers={"Idempotency-Key": idempotency_key},
            body={"permit_id": permit_id, "reason": reason},
            has_effect=True,
        )

    def commit_action(
        self,
        *,
        permit_id: str,
        prefer: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Use a permit once."""
        return self.send(
            "POST",
            "/api/v1/pi/commit_action",
            headers={"Idempotency-Key": idempotency_key, "Prefer": prefer},
            body={"permit_id": permit_id},
            has_effect=True,
        )

    def emergency_halt(
        self,
        *,
        reason: str,
        drill: Any | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Stop the golem."""
        return self.send(
            "POST",
            "/api/v1/pi/emergency_halt",
            headers={"Idempotency-Key": idempotency_key},
            body={"drill": drill, "reason": reason},
            has_effect=True,
        )

    def manifest(
        self,
        *,
        dialect: str | None = None,
        if_none_match: str | None = None,
    ) -> dict[str, Any]:
        """The golem's tools, for its model."""
        return self.send(
            "GET",
            "/api/v1/pi/manifest",
            query={"dialect": dialect},
            headers={"If-None-Match": if_none_match},
        )

    def list_permits(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        status: str | None = None,
    ) -> dict[str, Any]:
        """The golem's permits, newest first."""
        return self.send(
            "GET",
            "/api/v1/pi/permits",
            query={"cursor": cursor, "limit": limit, "status": status},
        )

    def get_permit(
        self,
        permit_id: str,
    ) -> dict[str, Any]:
        """One permit of the golem."""
        return self.send(
            "GET",
            f"/api/v1/pi/permits/{quote(permit_id, safe='')}",
        )

    def preview_action(
        self,
        *,
        idempotency_key: str | None = None,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Simulate an action and get a permit."""
        return self.send(
            "POST",
            "/api/v1/pi/preview_action",
            headers={"Idempotency-Key": idempotency_key},
            body=parameters,
            has_effect=True,
        )

    def query_grimoire(
        self,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Recall past episodes."""
        return self.send(
            "POST",
            "/api/v1/pi/query_grimoire",
            body=parameters,
        )

    def query_state(
        self,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Read one thing."""
        return self.send(
            "POST",
            "/api/v1/pi/query_state",
            body=parameters,
        )

    def search_context(
        self,
        **parameters: Any,
    ) -> dict[str, Any]:
        """Find what bears on a question now."""
        return self.send(
            "POST",
            "/api/v1/pi/search_context",
            body=parameters,
        )

    def update_directive(
        self,
        *,
        change: str,
        reason: str,
        section: str,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Write a section of the PLAYBOOK."""
        return self.send(
            "POST",
            "/api/v1/pi/update_directive",
            headers={"Idempotency-Key": idempotency_key},
            body={"change": change, "reason": reason, "section": section},
            has_effect=True,
        )
