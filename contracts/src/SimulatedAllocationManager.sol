// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ISlashedDelegation {
    function slashOperatorShares(address operator, address strategy, uint64 previous, uint64 current) external;
}

/// @title Simulated register of operator sets: who may slash which operator, and what is left of each
/// @notice Stands in on the local chain (31337) for the contract that has these functions on a public network. Any
/// service may slash an operator that joined one of its sets; allocations of a part of the stake are not told apart.
contract SimulatedAllocationManager {
    struct OperatorSet {
        address avs;
        uint32 id;
    }

    struct SlashingParams {
        address operator;
        uint32 operatorSetId;
        address[] strategies;
        uint256[] wadsToSlash;
        string description;
    }

    struct Past {
        uint32 fromBlock;
        uint64 magnitude;
    }

    uint64 private constant WAD = 1e18;

    address public immutable admin;
    address public delegation;
    mapping(address avs => uint256) public getOperatorSetCount;
    mapping(address avs => mapping(uint32 id => address[])) private _members;
    mapping(address operator => OperatorSet[]) private _setsOf;
    mapping(address operator => mapping(address strategy => Past[])) private _past;

    event AVSMetadataURIUpdated(address indexed avs, string metadataURI);
    event OperatorSetCreated(OperatorSet operatorSet);
    event OperatorAddedToOperatorSet(address indexed operator, OperatorSet operatorSet);
    event OperatorSlashed(
        address operator, OperatorSet operatorSet, address[] strategies, uint256[] wadSlashed, string description
    );

    error NotAdmin(address sender);
    error InvalidOperatorSet();
    error NotMemberOfSet();
    error InvalidWadToSlash();

    constructor() {
        admin = msg.sender;
    }

    function setDelegation(address manager) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        delegation = manager;
    }

    function updateAVSMetadataURI(address avs, string calldata metadataURI) external {
        if (msg.sender != avs) revert NotAdmin(msg.sender);
        emit AVSMetadataURIUpdated(avs, metadataURI);
    }

    /// @notice The caller is the service.
    function createOperatorSet() external returns (uint32 id) {
        id = uint32(getOperatorSetCount[msg.sender]++);
        emit OperatorSetCreated(OperatorSet(msg.sender, id));
    }

    function registerForOperatorSet(address avs, uint32 id) external {
        if (id >= getOperatorSetCount[avs]) revert InvalidOperatorSet();
        if (!isMemberOfOperatorSet(msg.sender, OperatorSet(avs, id))) {
            _members[avs][id].push(msg.sender);
            _setsOf[msg.sender].push(OperatorSet(avs, id));
            emit OperatorAddedToOperatorSet(msg.sender, OperatorSet(avs, id));
        }
    }

    function slashOperator(address avs, SlashingParams calldata params) external {
        if (msg.sender != avs) revert NotAdmin(msg.sender);
        OperatorSet memory set = OperatorSet(avs, params.operatorSetId);
        if (!isMemberOfOperatorSet(params.operator, set)) revert NotMemberOfSet();
        for (uint256 i; i < params.strategies.length; ++i) {
            uint256 wad = params.wadsToSlash[i];
            if (wad == 0 || wad > WAD) revert InvalidWadToSlash();
            uint64 previous = getMaxMagnitude(params.operator, params.strategies[i]);
            uint64 current = previous - uint64((uint256(previous) * wad + WAD - 1) / WAD);
            _past[params.operator][params.strategies[i]].push(Past(uint32(block.number), current));
            ISlashedDelegation(delegation).slashOperatorShares(
                params.operator, params.strategies[i], previous, current
            );
        }
        emit OperatorSlashed(params.operator, set, params.strategies, params.wadsToSlash, params.description);
    }

    function getMaxMagnitude(address operator, address strategy) public view returns (uint64) {
        return _magnitudeAt(operator, strategy, type(uint32).max);
    }

    function getMaxMagnitudes(address operator, address[] calldata strategies)
        external
        view
        returns (uint64[] memory magnitudes)
    {
        magnitudes = new uint64[](strategies.length);
        for (uint256 i; i < strategies.length; ++i) magnitudes[i] = getMaxMagnitude(operator, strategies[i]);
    }

    function getMaxMagnitudesAtBlock(address operator, address[] calldata strategies, uint32 blockNumber)
        external
        view
        returns (uint64[] memory magnitudes)
    {
        magnitudes = new uint64[](strategies.length);
        for (uint256 i; i < strategies.length; ++i) {
            magnitudes[i] = _magnitudeAt(operator, strategies[i], blockNumber);
        }
    }

    function getRegisteredSets(address operator) external view returns (OperatorSet[] memory) {
        return _setsOf[operator];
    }

    function getMembers(OperatorSet calldata set) external view returns (address[] memory) {
        return _members[set.avs][set.id];
    }

    function isMemberOfOperatorSet(address operator, OperatorSet memory set) public view returns (bool) {
        OperatorSet[] storage sets = _setsOf[operator];
        for (uint256 i; i < sets.length; ++i) {
            if (sets[i].avs == set.avs && sets[i].id == set.id) return true;
        }
        return false;
    }

    function _magnitudeAt(address operator, address strategy, uint32 blockNumber) private view returns (uint64) {
        Past[] storage past = _past[operator][strategy];
        for (uint256 i = past.length; i > 0; --i) {
            if (past[i - 1].fromBlock <= blockNumber) return past[i - 1].magnitude;
        }
        return WAD;
    }
}
