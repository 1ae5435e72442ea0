// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IPool {
    function rebase(uint256 reportTimestamp, uint256 timeElapsed, uint256 earned, uint256 lost) external;
    function finalizeRequests(uint256 lastId) external payable;
}

interface IFrames {
    function getCurrentFrame() external view returns (uint256 refSlot, uint256 reportProcessingDeadlineSlot);
}

/// @title Simulated accounting oracle: tells the pool what its validators earned, and lets the queue move
contract SimulatedAccountingOracle {
    uint256 public constant SECONDS_PER_SLOT = 12;
    uint256 public constant GENESIS_TIME = 1606824023;
    address public immutable admin;
    address public immutable LIDO;
    address public immutable getConsensusContract;
    /// @notice While on, every frame counts as reported, so that a local chain nobody reports to does not stall.
    bool public isPunctual = true;
    uint256 private _processed;

    event ProcessingStarted(uint256 indexed refSlot, bytes32 hash);

    error NotAuthorized();

    constructor(address pool, address consensus) {
        (admin, LIDO, getConsensusContract) = (msg.sender, pool, consensus);
    }

    modifier onlyAdmin() {
        if (msg.sender != admin) revert NotAuthorized();
        _;
    }

    function setPunctual(bool punctual) external onlyAdmin {
        _processed = getLastProcessingRefSlot();
        isPunctual = punctual;
    }

    function getLastProcessingRefSlot() public view returns (uint256 refSlot) {
        if (!isPunctual) return _processed;
        (refSlot,) = IFrames(getConsensusContract).getCurrentFrame();
    }

    /// @notice A report of so many seconds ago; the ether sent along is what validators gave back for the queue.
    function submitReport(uint256 age, uint256 timeElapsed, uint256 earned, uint256 lost, uint256 lastId)
        external
        payable
        onlyAdmin
    {
        (_processed,) = IFrames(getConsensusContract).getCurrentFrame();
        emit ProcessingStarted(_processed, bytes32(0));
        IPool(LIDO).rebase(block.timestamp - age, timeElapsed, earned, lost);
        if (lastId != 0) IPool(LIDO).finalizeRequests{value: msg.value}(lastId);
    }
}
