// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A price feed that says whatever it is told, for tests
contract LyingFeed {
    uint8 public decimals;
    uint80 public roundId = 1;
    uint80 public answeredIn = 1;
    int256 public answer;
    /// @notice Seconds before the block that reads; negative for the future.
    int256 public age;
    bool public isBroken;

    constructor(uint8 decimals_, int256 answer_) {
        decimals = decimals_;
        answer = answer_;
    }

    function set(int256 answer_, int256 age_, uint80 roundId_, uint80 answeredIn_) external {
        (answer, age, roundId, answeredIn) = (answer_, age_, roundId_, answeredIn_);
    }

    function setDecimals(uint8 decimals_) external {
        decimals = decimals_;
    }

    function breakDown() external {
        isBroken = true;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        require(!isBroken);
        uint256 updatedAt = uint256(int256(block.timestamp) - age);
        return (roundId, answer, updatedAt, updatedAt, answeredIn);
    }
}
