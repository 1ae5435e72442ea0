// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IManagedAgents {
    function ownerOf(uint256 agentId) external view returns (address);
    function getApproved(uint256 agentId) external view returns (address);
    function isApprovedForAll(address owner, address operator) external view returns (bool);
}

/// @title Simulated ERC-8004 validation registry: an agent asks a validator, who answers from 0 to 100
/// @notice Stands in on the local chain (31337) for the registry that has these functions on a public network.
contract SimulatedValidationRegistry {
    struct Validation {
        address validatorAddress;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
        bool isAnswered;
    }

    address private immutable _deployer = msg.sender;
    address private _identityRegistry;
    mapping(bytes32 requestHash => Validation) private _validations;
    mapping(uint256 agentId => bytes32[]) private _ofAgent;
    mapping(address validator => bytes32[]) private _ofValidator;

    event ValidationRequest(
        address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash
    );
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    error OnlyOnce();
    error NotAuthorized(address sender, uint256 agentId);
    error NoValidator();
    error RequestExists(bytes32 requestHash);
    error UnknownRequest(bytes32 requestHash);
    error NotTheValidator(address sender);
    error ResponseTooHigh(uint8 response);

    function initialize(address identityRegistry) external {
        if (msg.sender != _deployer || _identityRegistry != address(0)) revert OnlyOnce();
        _identityRegistry = identityRegistry;
    }

    function getIdentityRegistry() external view returns (address) {
        return _identityRegistry;
    }

    function validationRequest(address validatorAddress, uint256 agentId, string calldata requestURI, bytes32 requestHash)
        external
    {
        if (validatorAddress == address(0)) revert NoValidator();
        if (_validations[requestHash].validatorAddress != address(0)) revert RequestExists(requestHash);
        IManagedAgents agents = IManagedAgents(_identityRegistry);
        address owner = agents.ownerOf(agentId);
        bool mayAsk =
            msg.sender == owner || agents.isApprovedForAll(owner, msg.sender) || agents.getApproved(agentId) == msg.sender;
        if (!mayAsk) revert NotAuthorized(msg.sender, agentId);
        _validations[requestHash] = Validation(validatorAddress, agentId, 0, 0, "", block.timestamp, false);
        _ofAgent[agentId].push(requestHash);
        _ofValidator[validatorAddress].push(requestHash);
        emit ValidationRequest(validatorAddress, agentId, requestURI, requestHash);
    }

    /// @notice A validator may answer again: what was tentative becomes final.
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Validation storage asked = _known(requestHash);
        if (msg.sender != asked.validatorAddress) revert NotTheValidator(msg.sender);
        if (response > 100) revert ResponseTooHigh(response);
        (asked.response, asked.responseHash, asked.tag) = (response, responseHash, tag);
        (asked.lastUpdate, asked.isAnswered) = (block.timestamp, true);
        emit ValidationResponse(msg.sender, asked.agentId, requestHash, response, responseURI, responseHash, tag);
    }

    function getValidationStatus(bytes32 requestHash)
        external
        view
        returns (
            address validatorAddress,
            uint256 agentId,
            uint8 response,
            bytes32 responseHash,
            string memory tag,
            uint256 lastUpdate
        )
    {
        Validation storage asked = _known(requestHash);
        return (asked.validatorAddress, asked.agentId, asked.response, asked.responseHash, asked.tag, asked.lastUpdate);
    }

    function getSummary(uint256 agentId, address[] calldata validatorAddresses, string calldata tag)
        external
        view
        returns (uint64 count, uint8 averageResponse)
    {
        uint256 sum;
        bytes32[] storage hashes = _ofAgent[agentId];
        for (uint256 i; i < hashes.length; ++i) {
            Validation storage asked = _validations[hashes[i]];
            if (!asked.isAnswered || !_isNamed(asked.validatorAddress, validatorAddresses)) continue;
            if (bytes(tag).length != 0 && keccak256(bytes(tag)) != keccak256(bytes(asked.tag))) continue;
            (sum, count) = (sum + asked.response, count + 1);
        }
        if (count != 0) averageResponse = uint8(sum / count);
    }

    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory) {
        return _ofAgent[agentId];
    }

    function getValidatorRequests(address validatorAddress) external view returns (bytes32[] memory) {
        return _ofValidator[validatorAddress];
    }

    function _known(bytes32 requestHash) private view returns (Validation storage asked) {
        asked = _validations[requestHash];
        if (asked.validatorAddress == address(0)) revert UnknownRequest(requestHash);
    }

    function _isNamed(address validator, address[] calldata named) private pure returns (bool) {
        for (uint256 i; i < named.length; ++i) if (named[i] == validator) return true;
        return named.length == 0;
    }
}
