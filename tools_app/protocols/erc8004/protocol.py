"""Everything the product knows of the ERC-8004 registries, as one value."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc8004.addresses import IDENTITY, LOCAL_CHAIN_ID, NAME, REPUTATION, VALIDATION, deployments
from tools_app.protocols.erc8004.effects import EFFECTS
from tools_app.standards import erc8004
from tools_app.standards.erc721_approvals import describe_item_rights
from tools_app.toolkit.protocol import NOTHING_HELD, Contract, ProtocolDef

_TRANSFER: Final = "function safeTransferFrom(address,address,uint256)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="ERC-8004 agent registries",
    deployments=deployments,
    entry=IDENTITY,
    contracts=(
        Contract(
            IDENTITY,
            "ERC-8004 identity registry",
            ("function register(string)",),
            NOTHING_HELD,
            # Who the agent is, whose, and what is said in its name is its owners' to say: it stays for good.
            besides=(_TRANSFER, "function setAgentURI(uint256,string)", "function setMetadata(uint256,string,bytes)"),
        ),
        Contract(
            REPUTATION,
            "ERC-8004 reputation registry",
            (),
            NOTHING_HELD,
            besides=("function giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",),
        ),
        Contract(
            VALIDATION,
            "ERC-8004 validation registry",
            (),
            NOTHING_HELD,
            # Whoever is named as the judge writes a score under the agent for good.
            besides=("function validationRequest(address,uint256,string,bytes32)",),
        ),
    ),
    effects=EFFECTS,
    rights=describe_item_rights(IDENTITY, one="may manage and move an agent", every="may manage and move every agent"),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        erc8004.REGISTERED,
        erc8004.URI_UPDATED,
        erc8004.METADATA_SET,
        erc8004.NEW_FEEDBACK,
        erc8004.FEEDBACK_REVOKED,
        erc8004.VALIDATION_REQUEST,
        erc8004.VALIDATION_RESPONSE,
    ),
    errors=(
        "error ERC721NonexistentToken(uint256 tokenId)",
        "error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)",
        "error ERC721InsufficientApproval(address operator, uint256 tokenId)",
        "error ERC721InvalidReceiver(address receiver)",
        "error NotAuthorized(address sender, uint256 agentId)",
        "error SelfFeedback(uint256 agentId, address client)",
        "error RequestExists(bytes32 requestHash)",
    ),
)
"""An agent is a token: whoever is approved for it may rewrite what it says of itself."""
