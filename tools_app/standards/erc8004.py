"""ERC-8004, trustless agents: functions and events of its three registries, as its text has them since January 2026.

Validation is still discussed there; what is below is what its text says of it now. The text leaves the words of reverts
to whoever implements it. Source: ethereum/ERCs, `ERCS/erc-8004.md`, commit 2395308aeb8e.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent

REGISTRATION_TYPE: Final = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1"
"""What the registration file of an agent says its own type is."""

# Identity
REGISTER: Final = "function register(string agentURI) returns (uint256 agentId)"
SET_URI: Final = "function setAgentURI(uint256 agentId, string newURI)"
SET_METADATA: Final = "function setMetadata(uint256 agentId, string metadataKey, bytes metadataValue)"
TRANSFER: Final = "function safeTransferFrom(address from, address to, uint256 tokenId)"
OWNER_OF: Final = "function ownerOf(uint256 tokenId) view returns (address)"
AGENT_URI: Final = "function tokenURI(uint256 tokenId) view returns (string)"
GET_WALLET: Final = "function getAgentWallet(uint256 agentId) view returns (address)"
GET_METADATA: Final = "function getMetadata(uint256 agentId, string metadataKey) view returns (bytes)"
IS_OPERATOR: Final = "function isApprovedForAll(address owner, address operator) view returns (bool)"
GET_APPROVED: Final = "function getApproved(uint256 tokenId) view returns (address)"
REGISTERED: Final = "event Registered(uint256 indexed agentId, string agentURI, address indexed owner)"
URI_UPDATED: Final = "event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy)"
METADATA_SET: Final = (
    "event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey,"
    " bytes metadataValue)"
)

# Reputation
GIVE_FEEDBACK: Final = (
    "function giveFeedback(uint256 agentId, int128 value, uint8 valueDecimals, string tag1, string tag2,"
    " string endpoint, string feedbackURI, bytes32 feedbackHash)"
)
GET_CLIENTS: Final = "function getClients(uint256 agentId) view returns (address[])"
LAST_INDEX: Final = "function getLastIndex(uint256 agentId, address clientAddress) view returns (uint64)"
READ_FEEDBACK: Final = (
    "function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) view returns (int128 value,"
    " uint8 valueDecimals, string tag1, string tag2, bool isRevoked)"
)
NEW_FEEDBACK: Final = (
    "event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value,"
    " uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI,"
    " bytes32 feedbackHash)"
)


@dataclass(frozen=True, slots=True)
class FeedbackGiven:
    """One piece of feedback, as the registry's log tells it."""

    client_address: str
    feedback_index: int


FEEDBACK_GIVEN: Final = AbiEvent(NEW_FEEDBACK, FeedbackGiven)
FEEDBACK_REVOKED: Final = (
    "event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)"
)

# Validation
REQUEST_VALIDATION: Final = (
    "function validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash)"
)
LIST_VALIDATIONS: Final = "function getAgentValidations(uint256 agentId) view returns (bytes32[] requestHashes)"
VALIDATION_STATUS: Final = (
    "function getValidationStatus(bytes32 requestHash) view returns (address validatorAddress, uint256 agentId,"
    " uint8 response, bytes32 responseHash, string tag, uint256 lastUpdate)"
)
VALIDATION_REQUEST: Final = (
    "event ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI,"
    " bytes32 indexed requestHash)"
)
VALIDATION_RESPONSE: Final = (
    "event ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash,"
    " uint8 response, string responseURI, bytes32 responseHash, string tag)"
)
