"""ERC-8004 on the local chain: registries of our own in its place, with an agent, clients and a validator of others."""

from __future__ import annotations

import base64
import json

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

REGISTRATION_TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1"
AGENT = 0
STARS = ((95, 0), (874, 1), (62, 0))
REQUEST_HASH = bytes.fromhex("11" * 32)
VALIDATION = 90


def describe_agent() -> str:
    """The registration file of the world's own agent, as a data URI."""
    document = {
        "type": REGISTRATION_TYPE,
        "name": "Local price reporter (simulated)",
        "description": "An agent of the local world; nobody answers at its endpoint.",
        "image": "",
        "services": [
            {"name": "A2A", "endpoint": "https://agent.example/.well-known/agent-card.json", "version": "1.0"}
        ],
        "x402Support": False,
        "active": True,
        "supportedTrust": ["reputation"],
    }
    text = json.dumps(document, separators=(",", ":"))
    return "data:application/json;base64," + base64.b64encode(text.encode()).decode()


def deploy(site: Site) -> dict[str, str]:
    """The three registries; one agent, what three clients said of it, and one validation."""
    identity = site.create_ours("SimulatedIdentityRegistry")
    reputation = site.create_ours("SimulatedReputationRegistry")
    validation = site.create_ours("SimulatedValidationRegistry")
    for registry in (reputation, validation):
        site.transact(registry, "initialize(address)", identity)
    maker = site.account("agent maker")
    site.transact(identity, "register(string)", describe_agent(), sender=maker)
    site.flush()
    give = "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)"
    for number, (value, decimals) in enumerate(STARS, 1):
        client = site.account(f"client {number}")
        site.transact(reputation, give, AGENT, value, decimals, "starred", "", "", "", bytes(32), sender=client)
    validator = site.account("validator")
    ask = "validationRequest(address,uint256,string,bytes32)"
    site.transact(validation, ask, validator.address, AGENT, "", REQUEST_HASH, sender=maker)
    site.flush()
    answer = "validationResponse(bytes32,uint8,string,bytes32,string)"
    site.transact(validation, answer, REQUEST_HASH, VALIDATION, "", bytes(32), "stake-secured", sender=validator)
    return {"identity": identity, "reputation": reputation, "validation": validation}


WORLD = ProtocolWorld("erc8004", deploy)
