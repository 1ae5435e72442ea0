// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A token that stops telling balances, for tests
contract FragileToken {
    uint8 public constant decimals = 18;
    bool public isBroken;

    function breakDown() external {
        isBroken = true;
    }

    function balanceOf(address) external view returns (uint256) {
        require(!isBroken);
        return 0;
    }
}
