// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated consensus of oracle members over one report per frame of beacon chain epochs
contract SimulatedHashConsensus {
    uint256 public constant SLOTS_PER_EPOCH = 32;
    uint256 public constant SECONDS_PER_SLOT = 12;
    uint256 public constant GENESIS_TIME = 1606824023;

    address public immutable admin;
    uint256 public epochsPerFrame;
    uint256 private _quorum;
    address[] private _members;
    mapping(address member => uint256) private _lastReported;
    mapping(address member => bytes32) private _report;

    error NonMember();
    error InvalidSlot();
    error NotAuthorized();

    constructor(address[] memory members, uint256 quorum, uint256 epochsPerFrame_) {
        (admin, _members, _quorum, epochsPerFrame) = (msg.sender, members, quorum, epochsPerFrame_);
    }

    function setFrameConfig(uint256 epochsPerFrame_) external {
        if (msg.sender != admin) revert NotAuthorized();
        epochsPerFrame = epochsPerFrame_;
    }

    function getChainConfig() external pure returns (uint256, uint256, uint256) {
        return (SLOTS_PER_EPOCH, SECONDS_PER_SLOT, GENESIS_TIME);
    }

    function getFrameConfig() external view returns (uint256 initialEpoch, uint256 epochs, uint256 fastLaneLengthSlots) {
        return (0, epochsPerFrame, 0);
    }

    function getQuorum() external view returns (uint256) {
        return _quorum;
    }

    function getMembers() external view returns (address[] memory addresses, uint256[] memory lastReportedRefSlots) {
        addresses = _members;
        lastReportedRefSlots = new uint256[](addresses.length);
        for (uint256 i; i < addresses.length; ++i) lastReportedRefSlots[i] = _lastReported[addresses[i]];
    }

    /// @notice The frame reports are due for: its last slot lies just before it began, the deadline at its end.
    function getCurrentFrame() public view returns (uint256 refSlot, uint256 reportProcessingDeadlineSlot) {
        uint256 slots = SLOTS_PER_EPOCH * epochsPerFrame;
        uint256 first = (block.timestamp - GENESIS_TIME) / SECONDS_PER_SLOT / slots * slots;
        return (first - 1, first + slots - 1);
    }

    function submitReport(uint256 slot, bytes32 report, uint256) external {
        (uint256 refSlot,) = getCurrentFrame();
        if (slot != refSlot) revert InvalidSlot();
        for (uint256 i; i < _members.length; ++i) {
            if (_members[i] == msg.sender) {
                (_lastReported[msg.sender], _report[msg.sender]) = (slot, report);
                return;
            }
        }
        revert NonMember();
    }

    function getConsensusState() external view returns (uint256 refSlot, bytes32 consensusReport, bool isReportProcessing) {
        (refSlot,) = getCurrentFrame();
        for (uint256 i; i < _members.length; ++i) {
            if (_lastReported[_members[i]] != refSlot) continue;
            uint256 support;
            for (uint256 j; j < _members.length; ++j) {
                if (_lastReported[_members[j]] == refSlot && _report[_members[j]] == _report[_members[i]]) ++support;
            }
            if (support >= _quorum) return (refSlot, _report[_members[i]], false);
        }
    }
}
