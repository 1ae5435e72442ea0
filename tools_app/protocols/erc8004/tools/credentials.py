"""`identity_get_credentials`: which keys the golem has, none of them shown."""

from __future__ import annotations

from tools_app.protocols.erc8004.addresses import CHAINS, registries_on
from tools_app.protocols.erc8004.agent_ids import AgentId
from tools_app.protocols.erc8004.discovery import find_registrations
from tools_app.protocols.erc8004.reads import read_agents
from tools_app.protocols.erc8004.tools.family import identity
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.credentials import Credential, CredentialBook
from tools_app.toolkit.enums import TickBudget


class CredentialList(Told):
    """Fingerprints, scopes and ends. `agent_id` is the newest agent the golem's account registered and still owns, as
    far as one look through the logs of its home chain goes; null where none was found.
    """

    agent_id: str | None
    api_keys: tuple[Credential, ...]
    session_keys: tuple[Credential, ...]


@identity.read(
    budget=TickBudget.FAST,
    snippet="credentials: fingerprints, scopes and ends of this golem's own keys, and its agent; never a key itself.",
    guidelines=(
        "Tell the owner before a key ends that your work needs; this tool renews none, and no tool takes a key as a "
        "parameter.",
    ),
)
def identity_get_credentials(ctx: ReadContext) -> CredentialList:
    """List the golem's own API keys and session keys by fingerprint.

    Use to see which keys are good and when they end.
    Does not show a key, a token or anything that opens a door, and knows no other golem's.
    """
    ctx.step("Listing keys")
    book = ctx.service(CredentialBook)  # type: ignore[type-abstract]
    found = book(golem_id=ctx.golem.id, now=ctx.now)
    return CredentialList(_own_agent(ctx), found.api_keys, found.session_keys)


def _own_agent(ctx: ReadContext) -> str | None:
    account = ctx.golem.address
    if account is None or ctx.golem.home_chain_id not in CHAINS:
        return None
    reader = ctx.chain()
    at = registries_on(reader)
    agents = read_agents(reader, at, find_registrations(reader, at, owner=account).numbers)
    mine = [agent.number for agent in agents.values() if agent.owner == account]
    return str(AgentId(reader.chain_id, max(mine))) if mine else None
