"""Describes, case by case, what the `identity_*` writes do on the local chain: no money moves, and every word they
write is told.
"""

from __future__ import annotations

import json
from typing import Final

from tools_app.protocols.erc8004.addresses import LOCAL_CHAIN_ID
from tools_app.toolkit.case import Case, FromReport, Look, ReadCase
from tools_app.toolkit.enums import ActionClass

_NOBODY: Final = {"agent_id": f"{LOCAL_CHAIN_ID}:999999"}
_ELSEWHERE: Final = {"agent_id": "8453:0"}
_OTHERS: Final = {"agent_id": f"{LOCAL_CHAIN_ID}:0"}
_OWN: Final = {"agent_id": FromReport("agent_id")}
_VALIDATOR: Final = "0x" + "55" * 20
_AS_LONG_AS_IT_GOES: Final = {
    "name": "\U00020000" * 80,
    "description": "\U00020000" * 600,
    "registration": json.dumps(
        {
            **dict.fromkeys(("tool_endpoint", "a2a_endpoint"), f"https://agents.example/{'a' * 170}"),
            **dict.fromkeys(("ens", "did"), "h" * 120),
            "a2a_skills": ["s" * 64] * 10,
        }
    ),
}
"""Each field is as long as it may be, in letters of four bytes, and together they are too long for a chain."""

CASES: Final = (
    Case(
        "identity_register_agent",
        {
            "name": "Night watch",
            "description": "Watches lending positions while their owners sleep.",
            "registration": '{"a2a_endpoint": "https://agents.example/card.json", "a2a_skills": ["watch"]}',
        },
        ActionClass.NEW_POSITION,
        tells={"chain_id": LOCAL_CHAIN_ID},
        refuses=(
            ({"registration": '{"a2a_endpoint": "http://127.0.0.1/card"}'}, "INVALID_PARAMS"),
            ({"registration": '{"a2a": "https://agents.example"}'}, "INVALID_PARAMS"),
            ({"description": "password: hunter2hunter2"}, "INVALID_PARAMS"),
            (_AS_LONG_AS_IT_GOES, "REGISTRATION_TOO_LONG"),
        ),
    ),
    Case(
        "identity_update_metadata",
        {**_OWN, "updates": '{"active": false, "a2a_endpoint": "https://agents.example/other.json"}'},
        ActionClass.NEW_POSITION,
        after=("identity_register_agent",),
        tells={"fields_updated": ["active", "services"]},
        refuses=(
            (_OTHERS, "AGENT_NOT_OWNED"),
            (_NOBODY, "AGENT_NOT_FOUND"),
            (_ELSEWHERE, "AGENT_ON_ANOTHER_CHAIN"),
            ({"updates": '{"active": true}'}, "NOTHING_TO_UPDATE"),
        ),
    ),
    Case(
        "identity_submit_feedback",
        {**_OTHERS, "score": 437, "tag2": "quotes", "review": "Its figures were those of the chain."},
        ActionClass.NEW_POSITION,
        after=("identity_register_agent",),
        tells={"score": 437, **_OTHERS},
        refuses=(
            (_OWN, "OWN_AGENT_FEEDBACK"),
            (_NOBODY, "AGENT_NOT_FOUND"),
        ),
    ),
    Case(
        "identity_verify_agent",
        {**_OWN, "method": "zkml", "proof": "ipfs://bafyproof", "validator": _VALIDATOR},
        ActionClass.NEW_POSITION,
        after=("identity_register_agent",),
        tells={"method": "zkml", "validation_score": None},
        refuses=(
            (_OTHERS, "AGENT_NOT_OWNED"),
            (_NOBODY, "AGENT_NOT_FOUND"),
        ),
    ),
    Case(
        "identity_claim_milestone",
        {**_OWN, "tier": "silver"},
        ActionClass.NEW_POSITION,
        after=("identity_register_agent",),
        given=("five clients praise its agent",),
        tells={"tier": "silver", "points": 60},
        refuses=(({"tier": "platinum"}, "MILESTONE_NOT_REACHED"), (_OTHERS, "AGENT_NOT_OWNED")),
    ),
    Case(
        "identity_transfer_ownership",
        {**_OWN, "recipient": _VALIDATOR},
        ActionClass.NEW_POSITION,
        after=("identity_register_agent",),
        given=("its owner registered who gets it",),
        tells={"owner": _VALIDATOR},
        refuses=((_OTHERS, "AGENT_NOT_OWNED"), ({"recipient": FromReport("account")}, "AGENT_NOT_OWNED")),
    ),
)

_CLIENTS: Final = "function getClients(uint256) view returns (address[])"
_REGISTERED: Final = ("identity_register_agent",)
_PRAISED: Final = ("five clients praise its agent",)
_REFUSED: Final = ((_NOBODY, "AGENT_NOT_FOUND"),)


def _count_clients(look: Look) -> int:
    number = int(str(look.told("agent_id")).rpartition(":")[2])
    return len(look.call(look.at("reputation"), _CLIENTS, number))


READS: Final = (
    ReadCase(
        "identity_get_credentials",
        tells={"agent_id": lambda look: look.told("agent_id"), "api_keys.#": 1, "session_keys.#": 1},
        after=_REGISTERED,
    ),
    ReadCase(
        "identity_discover_agents",
        {"text": "lending watch"},
        {"agents.0.agent_id": lambda look: look.told("agent_id"), "agents.0.name.untrusted": True},
        after=_REGISTERED,
        most_exchanges=7,
    ),
    ReadCase(
        "identity_get_agent_profile",
        _OWN,
        {
            "name.value": "Night watch",
            "name.untrusted": True,
            "services.0.endpoint.value": "https://agents.example/card.json",
            "feedback_summary.total_feedback": 5,
            "feedback_summary.clients": _count_clients,
        },
        after=_REGISTERED,
        given=_PRAISED,
        refuses=_REFUSED,
        most_exchanges=6,
    ),
    ReadCase(
        "identity_get_reputation_summary",
        _OWN,
        {
            "average_score": 500,
            "clients": _count_clients,
            # Five best ratings on Beta(1, 1): six over seven, less two deviations of sqrt(6 / (49 * 8)).
            "beta_distribution.mean": "0.857142",
            "beta_distribution.least": "0.609708",
            "recent_trend": "stable",
        },
        after=_REGISTERED,
        given=_PRAISED,
        refuses=_REFUSED,
        most_exchanges=8,
    ),
    ReadCase(
        "identity_evaluate_agent_trust",
        _OWN,
        # A fifth of 100 for what it says of itself, half of the least that five best ratings make likely.
        {"trust_score": 20 + 60 // 2, "confidence": "medium", "flags": []},
        after=_REGISTERED,
        given=_PRAISED,
        refuses=_REFUSED,
        most_exchanges=7,
    ),
    ReadCase(
        "identity_get_tier",
        _OWN,
        # Ten for a file that can be read, ten for each of five best ratings.
        {"points": 10 + 5 * 10, "tier": "silver", "next_tier_threshold": 100},
        after=_REGISTERED,
        given=_PRAISED,
        refuses=_REFUSED,
        most_exchanges=7,
    ),
    ReadCase(
        "identity_check_eligibility",
        {**_OWN, "min_reputation": 400, "min_clients": 5},
        {"eligible": True, "missing": []},
        after=_REGISTERED,
        given=_PRAISED,
        refuses=_REFUSED,
        most_exchanges=7,
    ),
    ReadCase(
        "identity_check_eligibility",
        {**_OWN, "min_clients": 6},
        {"eligible": False, "missing.#": 1},
        name="identity_check_eligibility_of_too_few",
        after=_REGISTERED,
        given=_PRAISED,
        most_exchanges=7,
    ),
    ReadCase(
        "identity_get_validation_status",
        _OWN,
        {"validated": False, "history": [], "is_offered": True},
        after=_REGISTERED,
        refuses=_REFUSED,
    ),
)
