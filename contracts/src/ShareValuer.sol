// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

/// @title Values one token that stands for a growing amount of another, at what the token says it would give
/// @notice Shares of an ERC-4626 vault, staked ether with an exchange rate. An underlying asset without a feed counts as
/// nothing, and so do shares that are an asset of their own, which count there. Only for a token whose rate nobody can
/// move for a moment, from within a call to it or by trading.
contract ShareValuer is IValuer {
    address public immutable token;
    address public immutable underlying;
    /// @notice The call of `token` that tells how much of `underlying` an amount of it would give.
    bytes4 public immutable worthOf;

    error WorthUnreadable(address token, uint256 shares);

    constructor(address token_, address underlying_, bytes4 worthOf_) {
        (token, underlying, worthOf) = (token_, underlying_, worthOf_);
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
        (bool isOk, bytes memory output) = token.staticcall(abi.encodeWithSelector(worthOf, shares));
        if (!isOk || output.length != 32) revert WorthUnreadable(token, shares);
        uint256 amount = abi.decode(output, (uint256));
        (uint256 answer, uint256 unit) = prices.priceOf(underlying);
        gross = amount * answer * MICRO_USD / unit;
        (largest, cover) = (gross, gross);
        legs = new Leg[](1);
        legs[0] = Leg(underlying, int256(amount));
    }
}
