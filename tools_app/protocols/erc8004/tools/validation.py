"""`identity_verify_agent`, `identity_get_validation_status`: proofs handed to validators, and what they found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from tools_app.protocols.erc8004 import math, plans
from tools_app.protocols.erc8004.addresses import VALIDATION, VALIDATION_CHAINS, registries_on
from tools_app.protocols.erc8004.agent_ids import AgentIdText, agent_on, parse_agent_id
from tools_app.protocols.erc8004.errors import ValidationNotOffered, ValidationRequested
from tools_app.protocols.erc8004.reads import Validation, read_agent, read_validations
from tools_app.protocols.erc8004.tools.family import Method, identity, identity_on, line
from tools_app.protocols.erc8004.tools.register import check_managed
from tools_app.protocols.erc8004.tools.registration_fields import check_published
from tools_app.standards import erc8004
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.foreign_text import ForeignText
from tools_app.toolkit.params import PLAIN, Address
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.report import Report

Proof = Annotated[str, Field(min_length=1, max_length=1_000, description="The proof, or where it lies."), PLAIN]


class ValidationRequestReport(Report):
    """`validation_score` is null until the validator has answered; `request_hash` is what it answers to."""

    agent_id: str
    method: str
    validation_score: int | None = None
    request_hash: str


class ValidationLine(Told):
    """One question; `response` of 0 to 100, null while nothing of an answer is to be seen. `method` is as answered."""

    request_hash: str
    validator: str
    response: int | None
    method: ForeignText
    last_update: str


class ValidationStatus(OfChain):
    """What validators said, newest first. Anybody can be a validator: ask who he is before it counts."""

    agent_id: str
    validated: bool
    method: ForeignText | None
    last_validated: str | None
    validation_score: int | None
    history: tuple[ValidationLine, ...]
    is_offered: bool


@identity_on.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=ValidationRequestReport,
    action_class=ActionClass.NEW_POSITION,
    chains=VALIDATION_CHAINS,
    snippet="verify_agent: hand a proof of an own agent's work to a validator on the chain, who may answer later.",
    guidelines=("Choose a validator whose word others take; identity_get_validation_status shows its answer.",),
)
def identity_verify_agent(
    ctx: WriteContext,
    agent_id: AgentIdText,
    method: Method,
    proof: Proof,
    validator: Address,
) -> TxPlan:
    """Record a proof for one of the golem's own agents and ask a validator to judge it.

    Use to have work checked by somebody who stakes, proves or attests. The proof is public for ever.
    Does not judge the proof itself, and does not wait for the answer.
    """
    check_published(proof=proof)
    reader = ctx.chain()
    named, at = agent_on(reader, agent_id), registries_on(reader)
    if VALIDATION not in at:
        raise ValidationNotOffered(
            f"no validation registry is known on chain {reader.chain_id}", chains=sorted(VALIDATION_CHAINS)
        )
    ctx.step("Reading the agent")
    check_managed(reader, at, named, ctx.account)
    uri, digest = plans.write_proof(named, method=method, proof=proof)
    (asked,) = reader.call_many([ReadCall(at[VALIDATION], erc8004.VALIDATION_STATUS, (digest,))])
    if asked.ok:
        raise ValidationRequested(
            f"this proof of agent {named} was handed to {asked.values[0]} before", request_hash="0x" + digest.hex()
        )
    ctx.step("Building calls")
    details = {"agent_id": agent_id, "method": method, "request_hash": "0x" + digest.hex()}
    return plans.ask_validator(
        reader, at, ctx.account, agent=named, validator=validator, uri=uri, digest=digest, details=details
    )


@identity.read(
    query="agent_validation",
    budget=TickBudget.FAST,
    snippet="agent_validation: what validators answered about an agent, 0 to 100; methods are strangers' words.",
    guidelines=(
        "Look at who validated before you look at the figure: a validator that nobody knows adds nothing, whatever "
        "it answers.",
    ),
)
def identity_get_validation_status(ctx: ReadContext, agent_id: AgentIdText) -> ValidationStatus:
    """Read what validators said about an agent.

    Use before relying on an agent's claim that its work is checked.
    Does not say whether a validator can be trusted; an answer of 0 without a word counts as none.
    """
    named = parse_agent_id(agent_id)
    reader = ctx.chain(named.chain_id)
    at = registries_on(reader)
    ctx.step("Reading validations")
    read_agent(reader, at, named.number)
    found = read_validations(reader, at, named.number)
    last = max((each for each in found if each.response is not None), key=lambda each: each.last_update, default=None)
    return ValidationStatus(
        agent_id=agent_id,
        validated=any(each.response is not None and each.response >= math.PASSED for each in found),
        method=None if last is None else line(last.tag),
        last_validated=None if last is None else _time(last.last_update),
        validation_score=None if last is None else last.response,
        history=tuple(_show(each) for each in found),
        is_offered=VALIDATION in at,
    )


def _show(each: Validation) -> ValidationLine:
    return ValidationLine(each.request_hash, each.validator, each.response, line(each.tag), _time(each.last_update))


def _time(seconds: int) -> str:
    # A chain's word for a time may be any number.
    return datetime.fromtimestamp(min(seconds, 253_402_300_799), tz=UTC).isoformat()
