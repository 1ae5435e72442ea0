"""Calls to the registries, and what a plan says of them: the words they write down and the figures they move."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import encode_call
from tools_app.protocols.erc8004.addresses import IDENTITY, REPUTATION, VALIDATION
from tools_app.protocols.erc8004.agent_ids import AgentId
from tools_app.standards import erc8004
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, ItemGiven, Statement, TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound

NEW_AGENT: Final = "a new agent"
MILESTONE_KEY: Final = "milestone"
STAR_DECIMALS: Final = 1
_JSON: Final = "data:application/json;base64,"


@dataclass(frozen=True, slots=True)
class OwnFeedback:
    """Feedback as it is given: `score` in hundredths of a star, 0 to 500; `review` is published word for word."""

    score: int
    tag1: str
    tag2: str
    review: str | None


def register(
    reader: ChainReader, at: Mapping[str, str], account: str, *, uri: str, details: Mapping[str, object]
) -> TxPlan:
    """A new agent for the account, which has one more afterwards."""
    call = Call(at[IDENTITY], encode_call(erc8004.REGISTER, uri), 0, "Register an agent")
    said = (Statement(at[IDENTITY], NEW_AGENT, "agentURI", uri),)
    return _plan(reader, account, call, said, details, gauges=(_more(reader, at[IDENTITY], BALANCE_OF, account),))


def update(
    reader: ChainReader, at: Mapping[str, str], account: str, *, agent: AgentId, uri: str, details: Mapping[str, object]
) -> TxPlan:
    """Another file for an agent."""
    call = Call(at[IDENTITY], encode_call(erc8004.SET_URI, agent.number, uri), 0, f"Describe agent {agent} anew")
    return _plan(reader, account, call, (Statement(at[IDENTITY], _name(agent), "agentURI", uri),), details)


def claim(
    reader: ChainReader,
    at: Mapping[str, str],
    account: str,
    *,
    agent: AgentId,
    tier: str,
    details: Mapping[str, object],
) -> TxPlan:
    """The agent's own word for a tier it has reached, in its metadata."""
    data = encode_call(erc8004.SET_METADATA, agent.number, MILESTONE_KEY, tier.encode())
    call = Call(at[IDENTITY], data, 0, f"Write {tier} into the metadata of agent {agent}")
    said = (Statement(at[IDENTITY], _name(agent), f"metadata {MILESTONE_KEY}", "0x" + tier.encode().hex()),)
    return _plan(reader, account, call, said, details)


def hand_over(
    reader: ChainReader, at: Mapping[str, str], account: str, *, agent: AgentId, to: str, details: Mapping[str, object]
) -> TxPlan:
    """An agent for somebody else, who has one more afterwards."""
    data = encode_call(erc8004.TRANSFER, account, to, agent.number)
    return _plan(
        reader,
        account,
        Call(at[IDENTITY], data, 0, f"Hand agent {agent} over to {to}"),
        (Statement(at[IDENTITY], _name(agent), "owner", to),),
        details,
        gauges=(_more(reader, at[IDENTITY], BALANCE_OF, to),),
        items=(ItemGiven(at[IDENTITY], agent.number, to),),
        recipients=(to,),
    )


def give_feedback(
    reader: ChainReader,
    at: Mapping[str, str],
    account: str,
    *,
    agent: AgentId,
    given: OwnFeedback,
    details: Mapping[str, object],
) -> TxPlan:
    """One more word of the account about an agent."""
    # Five stars are 100 of the standard's rating: a hundredth of a star is a fifth of one, and one decimal is exact.
    value = given.score * 2
    uri, digest = _write_review(reader, agent, account, given, value)
    data = encode_call(
        erc8004.GIVE_FEEDBACK, agent.number, value, STAR_DECIMALS, given.tag1, given.tag2, "", uri, digest
    )
    written = {
        "value": str(value),
        "valueDecimals": str(STAR_DECIMALS),
        "tag1": given.tag1,
        "tag2": given.tag2,
        "endpoint": "",
        "feedbackURI": uri,
        "feedbackHash": "0x" + digest.hex(),
    }
    return _plan(
        reader,
        account,
        Call(at[REPUTATION], data, 0, f"Give agent {agent} {given.score} of 500"),
        tuple(Statement(at[REPUTATION], _name(agent), key, text) for key, text in written.items()),
        details,
        gauges=(_more(reader, at[REPUTATION], erc8004.LAST_INDEX, agent.number, account),),
    )


def ask_validator(
    reader: ChainReader,
    at: Mapping[str, str],
    account: str,
    *,
    agent: AgentId,
    validator: str,
    uri: str,
    digest: bytes,
    details: Mapping[str, object],
) -> TxPlan:
    """A proof handed to a validator, who may answer later."""
    data = encode_call(erc8004.REQUEST_VALIDATION, validator, agent.number, uri, digest)
    written = {"validator": validator, "requestURI": uri, "requestHash": "0x" + digest.hex()}
    said = tuple(Statement(at[VALIDATION], _name(agent), key, text) for key, text in written.items())
    call = Call(at[VALIDATION], data, 0, f"Ask {validator} to validate agent {agent}")
    return _plan(reader, account, call, said, details)


def write_proof(agent: AgentId, *, method: str, proof: str) -> tuple[str, bytes]:
    """The `data:` URI of a proof, and the keccak-256 of what it holds, by which it is known."""
    return _publish({"agent": agent.in_full, "method": method, "proof": proof})


def _write_review(
    reader: ChainReader, agent: AgentId, account: str, given: OwnFeedback, value: int
) -> tuple[str, bytes]:
    if given.review is None:
        return "", bytes(32)
    registry, _, number = agent.in_full.rpartition(":")
    return _publish(
        {
            "agentRegistry": registry,
            "agentId": int(number),
            "clientAddress": f"eip155:{agent.chain_id}:{account}",
            "createdAt": reader.block.timestamp,
            "value": value,
            "valueDecimals": STAR_DECIMALS,
            "review": given.review,
        }
    )


def _publish(document: Mapping[str, object]) -> tuple[str, bytes]:
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    return _JSON + base64.b64encode(text).decode(), keccak(text)


def _more(reader: ChainReader, to: str, signature: str, *args: object) -> GaugeBound:
    """A count that is one higher afterwards than it is now."""
    gauge = Gauge("a count at the registry", to, signature, args)
    (answer,) = reader.call_many([ReadCall(to, signature, args)])
    return GaugeBound(gauge, least=int(answer.values[0]) + 1 if answer.ok else 1)


def _plan(
    reader: ChainReader,
    account: str,
    call: Call,
    said: Sequence[Statement],
    details: Mapping[str, Any],  # Any: a stranger's JSON
    *,
    gauges: tuple[GaugeBound, ...] = (),
    items: tuple[ItemGiven, ...] = (),
    recipients: tuple[str, ...] = (),
) -> TxPlan:
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(call,),
        # What is published stays; a golem that is short of life leaves it.
        action_class=ActionClass.NEW_POSITION,
        recipients=recipients or (account,),
        gauges=gauges,
        statements=tuple(said),
        items=items,
        details={"venue": "erc8004", **details},
    )


def _name(agent: AgentId) -> str:
    return f"agent {agent.number}"
