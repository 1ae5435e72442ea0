// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, MICRO_USD} from "./CageTypes.sol";

interface ILendingPool {
    /// @return data two bits for each reserve of the market: whether the user borrows it, whether it is collateral.
    function getUserConfiguration(address user) external view returns (uint256 data);
}

/// @title Values an account in a lending market of Aave's kind: aTokens less debt tokens, at the owner's feeds
/// @notice Collateral in a token without a feed, or in a reserve that is not listed, counts as nothing. A debt in one
/// cannot be judged and is refused, and so is one of another kind than the reserve's debt token counts.
contract LendingValuer is IValuer {
    struct Reserve {
        address underlying;
        address aToken;
        address debtToken;
    }

    uint256 private constant BORROWED = 0x5555555555555555555555555555555555555555555555555555555555555555;

    ILendingPool public immutable pool;
    Reserve[] private reserves;

    error DebtHasNoPrice(address underlying, uint256 amount);
    error DebtNotListed(uint256 borrowed, uint256 listed);

    constructor(address pool_, Reserve[] memory reserves_) {
        pool = ILendingPool(pool_);
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
        uint256 listed = 0;
        for (uint256 i = 0; i < reserves.length; ++i) {
            Reserve memory reserve = reserves[i];
            uint256 held = IToken(reserve.aToken).balanceOf(account);
            uint256 owed = IToken(reserve.debtToken).balanceOf(account);
            if (owed != 0) ++listed;
            // An aToken that is an asset of its own counts there.
            if (held != 0 && prices.isPriced(reserve.aToken)) held = 0;
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
        uint256 borrowed = _count(pool.getUserConfiguration(account) & BORROWED);
        if (borrowed != listed) revert DebtNotListed(borrowed, listed);
        newest = 0;
    }

    function _count(uint256 bits) private pure returns (uint256 count) {
        for (; bits != 0; bits &= bits - 1) {
            ++count;
        }
    }
}
