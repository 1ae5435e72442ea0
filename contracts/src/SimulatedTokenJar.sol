// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IJarToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external;
}

/// @title Simulated jar of fees: pays out all it holds of an asset, when its releaser says so
/// @notice Stands in on the local chain (31337) for the contract that does this on a public network.
contract SimulatedTokenJar {
    address public immutable owner;
    address public releaser;

    error Unauthorized();
    error TransferFailed();

    constructor() {
        owner = msg.sender;
    }

    receive() external payable {}

    function setReleaser(address releaser_) external {
        if (msg.sender != owner) revert Unauthorized();
        releaser = releaser_;
    }

    function release(address[] calldata assets, address recipient) external {
        if (msg.sender != releaser) revert Unauthorized();
        for (uint256 i; i < assets.length; ++i) {
            if (assets[i] == address(0)) {
                (bool ok,) = recipient.call{value: address(this).balance}("");
                if (!ok) revert TransferFailed();
            } else {
                IJarToken token = IJarToken(assets[i]);
                token.transfer(recipient, token.balanceOf(address(this)));
            }
        }
    }
}
