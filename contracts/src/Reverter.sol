// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Fails in every way a contract can, for tests of error decoding
contract Reverter {
    uint256 public stored;

    error TooLittle(uint256 received, uint256 wanted);

    function withReason(string calldata reason) external pure {
        revert(reason);
    }

    function withCustomError(uint256 received, uint256 wanted) external pure {
        revert TooLittle(received, wanted);
    }

    function withPanic(uint256 divisor) external pure returns (uint256) {
        return 1 / divisor;
    }

    function withNothing() external pure {
        revert();
    }

    function withInvalidOpcode() external pure {
        assembly ("memory-safe") {
            invalid()
        }
    }

    /// @dev Writes first, so that a caller can see that the write was undone.
    function afterWriting(uint256 value) external {
        stored = value;
        revert("undone");
    }

    function succeed(uint256 value) external payable returns (uint256) {
        stored = value;
        return value;
    }
}
