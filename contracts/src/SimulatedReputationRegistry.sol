// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IAgents {
    function ownerOf(uint256 agentId) external view returns (address);
    function getApproved(uint256 agentId) external view returns (address);
    function isApprovedForAll(address owner, address operator) external view returns (bool);
}

/// @title Simulated ERC-8004 reputation registry: what clients say of agents, as signed decimals with tags
/// @notice Stands in on the local chain (31337) for the registry that has these functions on a public network.
contract SimulatedReputationRegistry {
    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    struct Said {
        address[] clients;
        uint64[] feedbackIndexes;
        int128[] values;
        uint8[] valueDecimals;
        string[] tag1s;
        string[] tag2s;
        bool[] revokedStatuses;
    }

    uint8 private constant MOST_DECIMALS = 18;

    address private immutable _deployer = msg.sender;
    address private _identityRegistry;
    mapping(uint256 agentId => address[]) private _clients;
    mapping(uint256 agentId => mapping(address client => Feedback[])) private _feedback;
    mapping(bytes32 feedback => mapping(address responder => uint64)) private _responses;
    mapping(bytes32 feedback => address[]) private _responders;

    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    error OnlyOnce();
    error SelfFeedback(uint256 agentId, address client);
    error TooManyDecimals(uint8 valueDecimals);
    error NoSuchFeedback(uint256 agentId, address client, uint64 feedbackIndex);
    error AlreadyRevoked();
    error NoClientsNamed();
    error EmptyUri();

    function initialize(address identityRegistry) external {
        if (msg.sender != _deployer || _identityRegistry != address(0)) revert OnlyOnce();
        _identityRegistry = identityRegistry;
    }

    function getIdentityRegistry() external view returns (address) {
        return _identityRegistry;
    }

    // ---- what clients and others say

    /// @notice Nobody speaks of an agent that is his own, or that he may manage.
    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        if (valueDecimals > MOST_DECIMALS) revert TooManyDecimals(valueDecimals);
        _checkStranger(agentId);
        Feedback[] storage given = _feedback[agentId][msg.sender];
        if (given.length == 0) _clients[agentId].push(msg.sender);
        given.push(Feedback(value, valueDecimals, false, tag1, tag2));
        emit NewFeedback(
            agentId, msg.sender, uint64(given.length), value, valueDecimals, tag1, tag1, tag2, endpoint, feedbackURI, feedbackHash
        );
    }

    function _checkStranger(uint256 agentId) private view {
        IAgents agents = IAgents(_identityRegistry);
        address owner = agents.ownerOf(agentId);
        if (msg.sender == owner || agents.isApprovedForAll(owner, msg.sender) || agents.getApproved(agentId) == msg.sender) {
            revert SelfFeedback(agentId, msg.sender);
        }
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Feedback storage given = _at(agentId, msg.sender, feedbackIndex);
        if (given.isRevoked) revert AlreadyRevoked();
        given.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        _at(agentId, clientAddress, feedbackIndex);
        if (bytes(responseURI).length == 0) revert EmptyUri();
        bytes32 key = keccak256(abi.encode(agentId, clientAddress, feedbackIndex));
        if (_responses[key][msg.sender]++ == 0) _responders[key].push(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    // ---- what was said

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients[agentId];
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(_feedback[agentId][clientAddress].length);
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Feedback storage given = _at(agentId, clientAddress, feedbackIndex);
        return (given.value, given.valueDecimals, given.tag1, given.tag2, given.isRevoked);
    }

    /// @notice The mean of what the named clients said, with as many decimals as the finest of it has.
    function getSummary(uint256 agentId, address[] calldata clientAddresses, string calldata tag1, string calldata tag2)
        external
        view
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)
    {
        if (clientAddresses.length == 0) revert NoClientsNamed();
        int256 sum;
        for (uint256 i; i < clientAddresses.length; ++i) {
            Feedback[] storage given = _feedback[agentId][clientAddresses[i]];
            for (uint256 j; j < given.length; ++j) {
                if (!_isAsked(given[j], tag1, tag2, false)) continue;
                ++count;
                sum += int256(given[j].value) * int256(10 ** (MOST_DECIMALS - given[j].valueDecimals));
                if (given[j].valueDecimals > summaryValueDecimals) summaryValueDecimals = given[j].valueDecimals;
            }
        }
        if (count != 0) {
            summaryValue = int128(sum / int256(uint256(count)) / int256(10 ** (MOST_DECIMALS - summaryValueDecimals)));
        }
    }

    function readAllFeedback(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients,
            uint64[] memory feedbackIndexes,
            int128[] memory values,
            uint8[] memory valueDecimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revokedStatuses
        )
    {
        Said memory said = _collect(agentId, clientAddresses, tag1, tag2, includeRevoked);
        return (
            said.clients,
            said.feedbackIndexes,
            said.values,
            said.valueDecimals,
            said.tag1s,
            said.tag2s,
            said.revokedStatuses
        );
    }

    function _collect(
        uint256 agentId,
        address[] memory asked,
        string calldata tag1,
        string calldata tag2,
        bool includeRevoked
    ) private view returns (Said memory said) {
        if (asked.length == 0) asked = _clients[agentId];
        uint256 found;
        for (uint256 i; i < asked.length; ++i) {
            Feedback[] storage given = _feedback[agentId][asked[i]];
            for (uint256 j; j < given.length; ++j) if (_isAsked(given[j], tag1, tag2, includeRevoked)) ++found;
        }
        said = Said(
            new address[](found),
            new uint64[](found),
            new int128[](found),
            new uint8[](found),
            new string[](found),
            new string[](found),
            new bool[](found)
        );
        found = 0;
        for (uint256 i; i < asked.length; ++i) {
            Feedback[] storage given = _feedback[agentId][asked[i]];
            for (uint256 j; j < given.length; ++j) {
                if (_isAsked(given[j], tag1, tag2, includeRevoked)) _put(said, found++, asked[i], j + 1, given[j]);
            }
        }
    }

    function _put(Said memory said, uint256 at, address client, uint256 index, Feedback storage given) private view {
        (said.clients[at], said.feedbackIndexes[at]) = (client, uint64(index));
        (said.values[at], said.valueDecimals[at]) = (given.value, given.valueDecimals);
        (said.tag1s[at], said.tag2s[at]) = (given.tag1, given.tag2);
        said.revokedStatuses[at] = given.isRevoked;
    }

    function getResponseCount(uint256 agentId, address clientAddress, uint64 feedbackIndex, address[] calldata responders)
        external
        view
        returns (uint64 count)
    {
        bytes32 key = keccak256(abi.encode(agentId, clientAddress, feedbackIndex));
        address[] memory asked = responders;
        if (asked.length == 0) asked = _responders[key];
        for (uint256 i; i < asked.length; ++i) count += _responses[key][asked[i]];
    }

    function _at(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
        Feedback[] storage given = _feedback[agentId][client];
        if (index == 0 || index > given.length) revert NoSuchFeedback(agentId, client, index);
        return given[index - 1];
    }

    function _isAsked(Feedback storage given, string calldata tag1, string calldata tag2, bool includeRevoked)
        private
        view
        returns (bool)
    {
        if (given.isRevoked && !includeRevoked) return false;
        if (bytes(tag1).length != 0 && keccak256(bytes(tag1)) != keccak256(bytes(given.tag1))) return false;
        return bytes(tag2).length == 0 || keccak256(bytes(tag2)) == keccak256(bytes(given.tag2));
    }
}
