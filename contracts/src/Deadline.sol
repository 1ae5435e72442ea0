// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title The end of what owners signed: called first in a batch, it undoes the whole batch once its time is over
/// @notice It keeps nothing, has no owner and moves nothing. Anybody may put it on a chain through the factory
///         0x4e59b44847b379578588920cA78FbF26c0B4956C, so its address is the same on each and follows from its code.
contract Deadline {
    error TooLate(uint256 deadline, uint256 time);

    /// @notice Reverts at `deadline` (unix seconds) and after it.
    function mustBeBefore(uint256 deadline) external view {
        if (block.timestamp >= deadline) revert TooLate(deadline, block.timestamp);
    }
}
