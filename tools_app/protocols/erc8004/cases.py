"""What the `identity_*` writes do on the local chain: no money moves, and every word they write is told."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc8004.addresses import LOCAL_CHAIN_ID
from tools_app.toolkit.case import Case, Told
from tools_app.toolkit.enums import ActionClass

_NOBODY: Final = {"agent_id": f"{LOCAL_CHAIN_ID}:999999"}
_ELSEWHERE: Final = {"agent_id": "8453:0"}
_OTHERS: Final = {"agent_id": f"{LOCAL_CHAIN_ID}:0"}
_OWN: Final = {"agent_id": Told("agent_id")}
_VALIDATOR: Final = "0x" + "55" * 20

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
            ({"name": ""}, "INVALID_PARAMS"),
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
            ({"score": 501}, "INVALID_PARAMS"),
        ),
    ),
    Case(
        "identity_verify_agent",
        {**_OWN, "method": "zkml", "proof": "ipfs://bafyproof", "validator": _VALIDATOR},
        ActionClass.NEW_POSITION,
        after=("identity_register_agent",),
        tells={"method": "zkml", "validation_score": None},
        refuses=((_OTHERS, "AGENT_NOT_OWNED"), (_NOBODY, "AGENT_NOT_FOUND"), ({"proof": ""}, "INVALID_PARAMS")),
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
        refuses=((_OTHERS, "AGENT_NOT_OWNED"), ({"recipient": Told("account")}, "AGENT_NOT_OWNED")),
    ),
)
