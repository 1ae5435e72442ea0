// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated price feed with the interface of a Chainlink aggregator
/// @notice Its owner sets the answer. Until the owner fixes a time, the answer is as fresh as the block that reads it,
/// so that a local chain which mines nothing for hours does not go stale.
contract SimulatedFeed {
    struct Round {
        int256 answer;
        uint256 startedAt;
    }

    uint8 public immutable decimals;
    address public immutable owner;
    uint256 public constant version = 1;
    string public description;

    uint80 public latestRound;
    /// @notice Unix seconds that `latestRoundData` reports, 0 while it follows the block.
    uint256 public fixedUpdatedAt;
    mapping(uint80 roundId => Round) private rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NotOwner(address caller);
    error NoData(uint80 roundId);

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    constructor(string memory description_, uint8 decimals_, int256 answer) {
        description = description_;
        decimals = decimals_;
        owner = msg.sender;
        _startRound(answer);
    }

    function setAnswer(int256 answer) external onlyOwner {
        _startRound(answer);
    }

    /// @param unixSeconds time to report from now on; 0 makes the feed follow the block again.
    function setUpdatedAt(uint256 unixSeconds) external onlyOwner {
        fixedUpdatedAt = unixSeconds;
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        roundId = latestRound;
        Round storage round = rounds[roundId];
        updatedAt = fixedUpdatedAt == 0 ? block.timestamp : fixedUpdatedAt;
        return (roundId, round.answer, round.startedAt, updatedAt, roundId);
    }

    /// @notice The answer alone, as lending markets ask for it.
    function latestAnswer() external view returns (int256) {
        return rounds[latestRound].answer;
    }

    function getRoundData(uint80 wanted)
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round storage round = rounds[wanted];
        if (round.startedAt == 0) revert NoData(wanted);
        return (wanted, round.answer, round.startedAt, round.startedAt, wanted);
    }

    function _startRound(int256 answer) private {
        uint80 roundId = ++latestRound;
        rounds[roundId] = Round({answer: answer, startedAt: block.timestamp});
        emit AnswerUpdated(answer, roundId, block.timestamp);
    }
}
