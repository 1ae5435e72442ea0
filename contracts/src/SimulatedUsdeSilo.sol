// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ISiloToken {
    function transfer(address to, uint256 value) external returns (bool);
}

/// @title Simulated silo: where dollars wait that cooled down, until the vault that made it gives them out
/// @notice Stands in on the local chain (31337) for the contract that does this on a public network.
contract SimulatedUsdeSilo {
    address public immutable vault;
    address public immutable token;

    error OnlyStakingVault();

    constructor(address token_) {
        (vault, token) = (msg.sender, token_);
    }

    function withdraw(address to, uint256 amount) external {
        if (msg.sender != vault) revert OnlyStakingVault();
        ISiloToken(token).transfer(to, amount);
    }
}
