// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

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
    function subject() external view returns (address) {
        return address(vault);
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        (debt, newest) = (0, 0);
        IPrices prices = IPrices(msg.sender);
        if (!prices.isPriced(underlying) || prices.isPriced(address(vault))) return (0, 0, 0, 0, 0, legs);
        uint256 shares = vault.balanceOf(account);
        if (shares == 0) return (0, 0, 0, 0, 0, legs);
        (uint256 answer, uint256 unit) = prices.priceOf(underlying);
        uint256 amount = vault.convertToAssets(shares);
        gross = amount * answer * MICRO_USD / unit;
        (largest, cover) = (gross, gross);
        legs = new Leg[](1);
        legs[0] = Leg(underlying, int256(amount));
    }
}
