// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IValuer, MICRO_USD} from "./CageTypes.sol";

interface IErc4626 {
    function asset() external view returns (address);

    function balanceOf(address account) external view returns (uint256);

    function convertToAssets(uint256 shares) external view returns (uint256);
}

/// @title Values the shares of one ERC-4626 vault at what the vault says they would give
/// @notice An underlying asset without a feed counts as nothing, and so do shares that are an asset of their own, which
/// count there. Only for a vault whose share price nobody can move for a moment, from within a call to it or by trading.
contract Erc4626Valuer is IValuer {
    IErc4626 public immutable vault;
    address public immutable underlying;

    constructor(address vault_) {
        vault = IErc4626(vault_);
        underlying = IErc4626(vault_).asset();
    }

    /// @inheritdoc IValuer
    function measure(address account) external view returns (uint256, uint256, uint256, uint256) {
        IPrices prices = IPrices(msg.sender);
        if (!prices.isPriced(underlying) || prices.isPriced(address(vault))) return (0, 0, 0, 0);
        uint256 shares = vault.balanceOf(account);
        if (shares == 0) return (0, 0, 0, 0);
        (uint256 answer, uint256 unit) = prices.priceOf(underlying);
        uint256 value = vault.convertToAssets(shares) * answer * MICRO_USD / unit;
        return (value, 0, value, 0);
    }
}
