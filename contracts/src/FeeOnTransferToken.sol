// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SimulatedToken} from "./SimulatedToken.sol";

/// @title Simulated ERC-20 that burns 1% of every transfer
/// @notice The receiver gets 99% of what the sender is charged, rounded up; minting is free of the fee.
contract FeeOnTransferToken is SimulatedToken {
    uint256 public constant FEE_BPS = 100;

    constructor(string memory name_, string memory symbol_, uint8 decimals_)
        SimulatedToken(name_, symbol_, decimals_)
    {}

    function _fee(uint256 value) internal pure override returns (uint256) {
        return (value * FEE_BPS) / 10_000;
    }
}
