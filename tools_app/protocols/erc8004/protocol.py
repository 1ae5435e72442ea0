"""Everything the product knows of the ERC-8004 registries, as one value."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc8004.addresses import IDENTITY, LOCAL_CHAIN_ID, NAME, REPUTATION, VALIDATION, deployments
from tools_app.protocols.erc8004.effects import RegistryEffects
from tools_app.standards import erc721, erc8004
from tools_app.toolkit.protocol import Contract, ProtocolDef, RightEvent

_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_TRANSFER: Final = "function safeTransferFrom(address,address,uint256)"


def _revoke_agent(contract: str, taker: str, token_id: str | None) -> tuple[str, tuple[object, ...]]:
    return "function approve(address to, uint256 tokenId)", (_NOBODY, int(token_id or 0))


def _revoke_operator(contract: str, taker: str, token_id: str | None) -> tuple[str, tuple[object, ...]]:
    return "function setApprovalForAll(address operator, bool approved)", (taker, False)


PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="ERC-8004 agent registries",
    deployments=deployments,
    entry=IDENTITY,
    contracts=(
        Contract(
            IDENTITY,
            "ERC-8004 identity registry",
            (
                "function register(string)",
                "function setAgentURI(uint256,string)",
                "function setMetadata(uint256,string,bytes)",
                _TRANSFER,
            ),
            own={_TRANSFER: ((0,),)},
        ),
        Contract(
            REPUTATION,
            "ERC-8004 reputation registry",
            ("function giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",),
        ),
        Contract(
            VALIDATION,
            "ERC-8004 validation registry",
            ("function validationRequest(address,uint256,string,bytes32)",),
        ),
    ),
    effects=RegistryEffects(),
    rights=(
        RightEvent(
            erc721.APPROVAL_EVENT,
            giver=0,
            taker=1,
            token=2,
            revoke=_revoke_agent,
            label="may manage and move an agent",
            keys=(IDENTITY,),
        ),
        RightEvent(
            erc721.APPROVAL_FOR_ALL_EVENT,
            giver=0,
            taker=1,
            amount=2,
            revoke=_revoke_operator,
            label="may manage and move every agent",
            keys=(IDENTITY,),
        ),
    ),
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
