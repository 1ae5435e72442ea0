// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

interface ISupply {
    function totalSupply() external view returns (uint256);
}

/// @title Values one token that stands for a share of all that its contract holds of another
/// @notice SushiBar. An underlying asset without a feed counts as nothing, and so do shares that are an asset of their
/// own, which count there. Only for a token whose contract gives its holdings out for shares alone: a gift to it raises
/// what all shares are worth, and nobody takes that back.
contract PooledShareValuer is IValuer {
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
        if (!prices.isPriced(underlying) || prices.isPriced(token)) return (0, 0, 0, 0, 0, legs);
        uint256 shares = IToken(token).balanceOf(account);
        if (shares == 0) return (0, 0, 0, 0, 0, legs);
        // Whoever holds shares makes the supply more than none.
        uint256 amount = shares * IToken(underlying).balanceOf(token) / ISupply(token).totalSupply();
        (uint256 answer, uint256 unit) = prices.priceOf(underlying);
        gross = amount * answer * MICRO_USD / unit;
        (largest, cover) = (gross, gross);
        legs = new Leg[](1);
        legs[0] = Leg(underlying, int256(amount));
    }
}
