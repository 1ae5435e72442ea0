"""OwnDoors: where this server is reached from outside, which is what a golem's registration says of its doors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

INFRASTRUCTURE: Final = "infrastructure"
"""The role of the agent that stands for a whole server."""


@dataclass(frozen=True, slots=True)
class OwnDoors:
    """`public_url` is https and a host, without a slash at its end; empty where the operator named none, and then
    nothing is filled in. `root_golem` is the golem that the host stands for.
    """

    public_url: str = ""
    has_mcp: bool = False
    root_golem: str = ""

    def card_of(self, golem_id: UUID) -> str | None:
        """Address of the golem's agent card."""
        return f"{self.public_url}/a2a/{golem_id}/.well-known/agent-card.json" if self.public_url else None

    @property
    def mcp(self) -> str | None:
        """Address of the door for MCP clients, where it is open."""
        return f"{self.public_url}/mcp" if self.public_url and self.has_mcp else None

    def role_of(self, golem_id: UUID) -> str | None:
        """The word for what the golem is to others, where it is more than itself."""
        return INFRASTRUCTURE if self.root_golem == str(golem_id) else None
