// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IRequestVaultAsset {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A simulated contract: a vault that is entered and left by request (ERC-7540), for tests
/// @notice Its previews revert, as that standard has them. What was granted of an exit is redeemed as everywhere.
contract MadeUpRequestVault {
    IRequestVaultAsset public immutable asset;
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => uint256) public maxRedeem;

    event Transfer(address indexed from, address indexed to, uint256 value);

    error ByRequestOnly();

    constructor(address asset_) {
        asset = IRequestVaultAsset(asset_);
    }

    /// @dev What a request and its fulfilment come to, at once.
    function fulfil(uint256 assets, address account) external {
        asset.transferFrom(msg.sender, address(this), assets);
        totalSupply += assets;
        balanceOf[account] += assets;
        emit Transfer(address(0), account, assets);
    }

    function grant(address account, uint256 shares) external {
        maxRedeem[account] = shares;
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256) {
        if (msg.sender != owner || shares > maxRedeem[owner]) revert ByRequestOnly();
        maxRedeem[owner] -= shares;
        balanceOf[owner] -= shares;
        totalSupply -= shares;
        emit Transfer(owner, address(0), shares);
        asset.transfer(receiver, shares);
        return shares;
    }

    function convertToAssets(uint256 shares) external pure returns (uint256) {
        return shares;
    }

    function maxDeposit(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function previewDeposit(uint256) external pure returns (uint256) {
        revert ByRequestOnly();
    }

    function previewRedeem(uint256) external pure returns (uint256) {
        revert ByRequestOnly();
    }
}
