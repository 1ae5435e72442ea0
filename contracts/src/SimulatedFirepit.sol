// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IGivenUp {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IReleasedJar {
    function release(address[] calldata assets, address recipient) external;
}

/// @title Simulated releaser: takes a fixed amount for good and has the jar pay out the assets that are named
/// @notice Stands in on the local chain (31337) for the contract that does this on a public network.
contract SimulatedFirepit {
    uint256 public constant MAX_RELEASE_LENGTH = 20;
    address public constant RESOURCE_RECIPIENT = address(0xdEaD);
    address public immutable RESOURCE;
    address public immutable TOKEN_JAR;
    uint256 public immutable threshold;
    uint256 public nonce;

    event Released(uint256 indexed nonce, address indexed recipient, address[] assets);

    error InvalidNonce();
    error TooManyAssets();

    constructor(address resource, uint256 threshold_, address jar) {
        (RESOURCE, threshold, TOKEN_JAR) = (resource, threshold_, jar);
    }

    function release(uint256 _nonce, address[] calldata assets, address recipient) external {
        if (_nonce != nonce) revert InvalidNonce();
        if (assets.length > MAX_RELEASE_LENGTH) revert TooManyAssets();
        nonce = _nonce + 1;
        IGivenUp(RESOURCE).transferFrom(msg.sender, RESOURCE_RECIPIENT, threshold);
        IReleasedJar(TOKEN_JAR).release(assets, recipient);
        emit Released(_nonce, recipient, assets);
    }
}
