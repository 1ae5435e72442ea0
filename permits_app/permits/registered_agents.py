"""Finds the ERC-8004 agents that a golem registered and still has, by its own permits.

An agent that came to the golem's account by other means is not found here: that takes a look through a chain's logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from tools_app.toolkit.registry import REGISTRY

_REGISTERS: Final = "identity_register_agent"
_HANDS_OVER: Final = "identity_transfer_ownership"


@dataclass(frozen=True, slots=True)
class RegisteredAgent:
    """Number `number` of the registry at address `registry` of a chain."""

    chain_id: int
    number: int
    registry: str

    @property
    def agent_id(self) -> str:
        """As the identity tools take it: `8453:22`."""
        return f"{self.chain_id}:{self.number}"

    @property
    def registry_in_full(self) -> str:
        """As the standard writes it: `eip155:8453:0x8004…`."""
        return f"eip155:{self.chain_id}:{self.registry}"


def list_registered(*, golem_id: UUID, chain_id: int | None = None) -> list[RegisteredAgent]:
    """Newest first, on one chain or on all."""
    done = ActionPermit.objects.filter(
        golem_id=golem_id, venue=REGISTRY.get(_REGISTERS).venue, status=PermitStatus.COMMITTED, is_local=False
    ).order_by("-finished_at")
    if chain_id is not None:
        done = done.filter(chain_id=chain_id)
    gone = set(done.filter(tool_name=_HANDS_OVER).values_list("expected_outcome__details__agent_id", flat=True))
    told = done.filter(tool_name=_REGISTERS).values_list(
        "result__data__agent_id", "expected_outcome__details__registry"
    )
    return [
        RegisteredAgent(int(agent_id.partition(":")[0]), int(agent_id.partition(":")[2]), registry)
        for agent_id, registry in told
        # A registration whose receipt did not tell its number has none.
        if agent_id and agent_id not in gone
    ]
