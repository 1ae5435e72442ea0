"""`identity_register_agent`, `identity_update_metadata`: what an agent says of itself, written on the chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.protocols.erc8004 import plans
from tools_app.protocols.erc8004.addresses import IDENTITY, registries_on
from tools_app.protocols.erc8004.agent_ids import AgentId, AgentIdText, agent_on
from tools_app.protocols.erc8004.errors import AgentNotOwned, NothingToUpdate, RegistrationElsewhere
from tools_app.protocols.erc8004.reads import AgentOnChain, may_manage, read_agent
from tools_app.protocols.erc8004.registration_file import FileSource, make_document, read_file, write_file
from tools_app.protocols.erc8004.tools.family import identity_on
from tools_app.protocols.erc8004.tools.registration_fields import (
    AgentName,
    AgentText,
    Image,
    RegistrationFields,
    RegistrationText,
    UpdateFields,
    UpdatesText,
    check_image,
    check_published,
    parse_fields,
)
from tools_app.standards import erc8004
from tools_app.standards.receipts import events_of
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.public_addresses import OwnDoors
from tools_app.toolkit.report import Report

_A2A, _MCP, _ENS, _DID = "A2A", "MCP", "ENS", "DID"
_A2A_VERSION: Final = "1.0"
_MCP_VERSION: Final = "2025-06-18"


class RegistrationReport(Told):
    """The new agent, as `chain:number`."""

    agent_id: str | None
    chain_id: int


class UpdateReport(Report):
    """Which fields of the agent's file are others now."""

    agent_id: str
    fields_updated: tuple[str, ...]


def report_registration(outcome: PlanOutcome) -> RegistrationReport:
    """The number out of the registry's own event."""
    chain_id = outcome.plan.chain_id
    told = events_of(outcome, erc8004.REGISTERED, contract=str(outcome.plan.details["registry"]))
    mine = [each["agentId"] for each in told if each["owner"] == outcome.account]
    return RegistrationReport(
        agent_id=str(AgentId(chain_id, mine[0])) if mine else None,
        chain_id=chain_id,
    )


@identity_on.write(
    risk=RiskLayer.BOUNDED,
    report=report_registration,
    action_class=ActionClass.NEW_POSITION,
    aliases=("register_agent",),
    snippet=("register_agent: register the golem's account as an agent on a chain; its words are public for ever."),
    guidelines=(
        "Write nothing that its owner would not publish: a registration is never taken back.",
        "Register once for each chain; identity_discover_agents shows what is there.",
    ),
)
def identity_register_agent(
    ctx: WriteContext,
    name: AgentName,
    registration: RegistrationText,
    description: AgentText | None = None,
    image: Image | None = None,
) -> TxPlan:
    """Register the golem's account as an agent by ERC-8004.

    Use once, so that others find the golem's doors and speak of it. The registration file is written on the chain;
    doors that it leaves out are those of this server, where its operator named its address.
    Does not prove that anything in it is true, and is never undone.
    """
    told = parse_fields(RegistrationFields, registration, parameter="registration")
    check_image(image)
    check_published(name=name, registration=registration, description=description, image=image)
    reader = ctx.begin("Writing the file")
    at = registries_on(reader)
    doors = ctx.services.get(OwnDoors)
    own = doors if isinstance(doors, OwnDoors) else OwnDoors()
    card = told.a2a_endpoint or own.card_of(ctx.golem.id)
    services = [
        *_service(_A2A, card, told.a2a_version or _A2A_VERSION, skills=told.a2a_skills),
        *_service(_MCP, told.tool_endpoint or own.mcp, told.tool_version or _MCP_VERSION),
        *_service(_ENS, told.ens, "v1"),
        *_service(_DID, told.did, "v1"),
    ]
    uri = write_file(
        make_document(
            name=name,
            description=description or "",
            image=image or "",
            services=services,
            x402=told.x402_support,
            trusts=list(dict.fromkeys(told.supported_trusts or ["reputation"])),
            role=told.role or own.role_of(ctx.golem.id),
        )
    )
    ctx.step("Building calls")
    details = {"registry": at[IDENTITY], "name": name, "bytes": len(uri)}
    return plans.register(reader, at, ctx.account, uri=uri, details=details)


@identity_on.write(
    action_type="update_agent",
    risk=RiskLayer.BOUNDED,
    report=UpdateReport,
    action_class=ActionClass.NEW_POSITION,
    snippet="update_agent: change single fields of what one of the golem's own agents says of itself on the chain.",
    guidelines=("active false tells others to leave the agent alone; the registration itself stays.",),
)
def identity_update_metadata(ctx: WriteContext, agent_id: AgentIdText, updates: UpdatesText) -> TxPlan:
    """Change fields of the registration file of an agent that is the golem's own.

    Use when a door moved or the agent rests. What is not named stays as it is.
    Does not change files that are kept elsewhere than on the chain.
    """
    told = parse_fields(UpdateFields, updates, parameter="updates")
    check_published(updates=updates)
    reader = ctx.begin("Reading the agent")
    named, at = agent_on(reader, agent_id), registries_on(reader)
    agent = check_managed(reader, at, named, ctx.account)
    found = read_file(agent.uri)
    if found.source is not FileSource.ON_CHAIN:
        raise RegistrationElsewhere(
            f"the file of agent {named} is not written on the chain ({found.source})", agent_id=agent_id
        )
    plain = told.model_dump(include={"name", "description", "image", "active"}, exclude_none=True)
    document = {**found.document, **plain}
    for word, endpoint in ((_MCP, told.tool_endpoint), (_A2A, told.a2a_endpoint)):
        if endpoint is not None:
            document = _move_door(document, word, endpoint)
    updated = tuple(sorted(key for key in document if document[key] != found.document.get(key)))
    if not updated:
        raise NothingToUpdate(f"agent {named} says all of that already", agent_id=agent_id)
    ctx.step("Building calls")
    details = {"registry": at[IDENTITY], "agent_id": agent_id, "fields_updated": list(updated)}
    return plans.update(reader, at, ctx.account, agent=named, uri=write_file(document), details=details)


def check_managed(reader: ChainReader, at: Mapping[str, str], named: AgentId, account: str) -> AgentOnChain:
    """The agent, which the account may manage. Raises AgentNotFound, AgentNotOwned."""
    agent = read_agent(reader, at, named.number)
    if not may_manage(reader, at, agent, account):
        raise AgentNotOwned(f"agent {named} belongs to {agent.owner}", agent_id=str(named), owner=agent.owner)
    return agent


def _service(
    name: str, endpoint: str | None, version: str, *, skills: list[str] | None = None
) -> list[dict[str, object]]:
    if endpoint is None:
        return []
    return [{"name": name, "endpoint": endpoint, "version": version, **({"skills": skills} if skills else {})}]


def _move_door(document: Mapping[str, object], word: str, endpoint: str) -> dict[str, object]:
    listed = document.get("services")
    services = [dict(each) for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    mine = [each for each in services if each.get("name") == word]
    if mine:
        mine[0]["endpoint"] = endpoint
    else:
        services += _service(word, endpoint, _A2A_VERSION if word == _A2A else _MCP_VERSION)
    return {**document, "services": services}
