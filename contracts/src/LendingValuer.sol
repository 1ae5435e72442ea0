// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, MICRO_USD} from "./CageTypes.sol";

/// @title Values an account in a lending market of Aave's kind: aTokens less debt tokens, at the owner's feeds
/// @notice Collateral in a token without a feed counts as nothing; a debt in one cannot be judged and is refused.
contract LendingValuer is IValuer {
    struct Reserve {
        address underlying;
        address aToken;
        address debtToken;
    }

    Reserve[] private reserves;

    error DebtHasNoPrice(address underlying, uint256 amount);

    constructor(Reserve[] memory reserves_) {
        for (uint256 i = 0; i < reserves_.length; ++i) {
            reserves.push(reserves_[i]);
        }
    }

    /// @notice The reserves that count.
    function listReserves() external view returns (Reserve[] memory) {
        return reserves;
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest)
    {
        IPrices prices = IPrices(msg.sender);
        for (uint256 i = 0; i < reserves.length; ++i) {
            Reserve memory reserve = reserves[i];
            uint256 held = IToken(reserve.aToken).balanceOf(account);
            uint256 owed = IToken(reserve.debtToken).balanceOf(account);
            if (!prices.isPriced(reserve.underlying)) {
                if (owed != 0) revert DebtHasNoPrice(reserve.underlying, owed);
                continue;
            }
            if (held == 0 && owed == 0) continue;
            (uint256 answer, uint256 unit) = prices.priceOf(reserve.underlying);
            uint256 value = held * answer * MICRO_USD / unit;
            gross += value;
            if (value > largest) largest = value;
            // Rounded up: what is owed never looks smaller than it is.
            if (owed != 0) debt += owed * answer * MICRO_USD / unit + 1;
        }
        newest = 0;
    }
}
