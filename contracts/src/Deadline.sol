// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title The end of what owners signed: called first in a batch, it undoes the whole batch once its time is over
/// @notice It keeps nothing, has no owner and moves nothing. Anybody may put it on a chain, at the same address on each.
contract Deadline {
    error TooLate(uint256 deadline, uint256 time);

    /// @notice Reverts at `deadline` (unix seconds) and after it.
    function mustBeBefore(uint256 deadline) external view {
        if (block.timestamp >= deadline) revert TooLate(deadline, block.timestamp);
    }
}
