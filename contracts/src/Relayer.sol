// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Passes a call on, for tests of what happens in the middle of another
contract Relayer {
    function relay(address to, bytes calldata data) external {
        (bool isOk, bytes memory reason) = to.call(data);
        if (isOk) return;
        assembly ("memory-safe") {
            revert(add(reason, 32), mload(reason))
        }
    }
}
