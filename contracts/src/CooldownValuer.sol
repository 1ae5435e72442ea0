// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

interface ICooldownVault {
    function convertToAssets(uint256 shares) external view returns (uint256);
    function cooldowns(address account) external view returns (uint104 end, uint152 amount);
}

/// @title Values shares of a vault whose exits cool down first, and what cools down
/// @notice sUSDe. An underlying asset without a feed counts as nothing. Shares that are an asset of their own count
/// there, and what cools down, which is none any more, counts here.
contract CooldownValuer is IValuer {
    address public immutable token;
    address public immutable underlying;

    constructor(address token_, address underlying_) {
        (token, underlying) = (token_, underlying_);
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return token;
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        (debt, newest) = (0, 0);
        IPrices prices = IPrices(msg.sender);
        if (!prices.isPriced(underlying)) return (0, 0, 0, 0, 0, legs);
        uint256 shares = prices.isPriced(token) ? 0 : IToken(token).balanceOf(account);
        (, uint256 amount) = ICooldownVault(token).cooldowns(account);
        if (shares != 0) amount += ICooldownVault(token).convertToAssets(shares);
        if (amount == 0) return (0, 0, 0, 0, 0, legs);
        (uint256 answer, uint256 unit) = prices.priceOf(underlying);
        gross = amount * answer * MICRO_USD / unit;
        (largest, cover) = (gross, gross);
        legs = new Leg[](1);
        legs[0] = Leg(underlying, int256(amount));
    }
}
