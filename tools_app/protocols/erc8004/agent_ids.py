"""Describes how an agent is named: `31337:7` is number 7 in the registry of chain 31337."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from tools_app.protocols.erc8004.addresses import IDENTITY, deployments
from tools_app.protocols.erc8004.errors import AgentOnAnotherChain
from tools_app.toolkit.context import ChainReader

_PATTERN: Final = r"^[1-9][0-9]{0,15}:(0|[1-9][0-9]{0,77})$"
AgentIdText = Annotated[
    str,
    Field(pattern=_PATTERN, description="Agent as chain:number, such as 8453:22; identity_discover_agents finds it."),
]


@dataclass(frozen=True, slots=True)
class AgentId:
    """The number is that of the agent's token, from 0."""

    chain_id: int
    number: int

    def __str__(self) -> str:
        return f"{self.chain_id}:{self.number}"

    @property
    def in_full(self) -> str:
        """With the registry it is numbered by, as the standard writes it: `eip155:1:0x8004…:22`; without one, bare."""
        at = deployments(self.chain_id)
        return f"eip155:{self.chain_id}:{at[IDENTITY]}:{self.number}" if at else str(self)


def parse_agent_id(text: str) -> AgentId:
    """The agent of a text that fits AgentIdText."""
    chain, _, number = text.partition(":")
    return AgentId(int(chain), int(number))


def agent_on(reader: ChainReader, text: str) -> AgentId:
    """The same, of the chain that is read. Raises AgentOnAnotherChain, whose `chain_id` is the agent's."""
    found = parse_agent_id(text)
    if found.chain_id != reader.chain_id:
        raise AgentOnAnotherChain(
            f"agent {found} is registered on chain {found.chain_id}, and the call is for chain {reader.chain_id}",
            chain_id=found.chain_id,
        )
    return found
